import { availableParallelism } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { z } from 'zod';
import { renderReportMarkdown, writeReport } from '../../src/report/report';
import { unlessAborted } from '../../src/runtime/turns';
import { timed } from '../plain/run-course';
import { smollm2Folder } from '../smollm2/unpack';
import { readWhole, readWord, seedsFrom } from '../support/options';
import { needProcesses, runPython } from '../support/programs';
import { measureBaselines, measureWorkers, readMeasured } from './baselines';
import { type Crew, openCrew } from './crew';
import { LESSONS } from './learn';
import { spendNight, workersPort } from './night';
import { type Recipe, smollm2Recipe, smollm2School, TINY } from './recipe';
import { reportSeeds, reportWorkers } from './report';
import { modelOf, teachWorkers } from './school';
import { readSeeds, runSeed, type SeedWish } from './seed';

// Teaches workers one or two skills each with the product's own commands, measures what plans can reach with them,
// and trains a Conductor to write plans from rewards, in a plain loop without Temporal:
//   npm run learn -- specialists [--folder DIR] [--seeds 1] [--first 0] [--lesson verdicts|shuffled|none]
//   npm run learn -- specialists --night [--folder DIR] [--first 0]
//   npm run learn -- specialists --model smollm2 [--workers smollm2] [--device cuda] …
// Taught workers and seeds stay in the folder; a killed seed resumes. At the end it reports on all seeds in the
// folder, and writes `report/` there; `--seeds 0` only reads what is stored. `--night` trains one on the whole stack
// instead. With `--model smollm2` the Conductor is SmolLM2-135M with an adapter, with `--workers smollm2` each worker
// is.

const MODELS = ['tiny', 'smollm2'] as const;

async function main(): Promise<void> {
  const { folder, lesson, night, device, ...values } = parseArgs({
    options: {
      folder: { type: 'string' },
      seeds: { type: 'string', default: '1' },
      first: { type: 'string', default: '0' },
      lesson: { type: 'string', default: 'verdicts' },
      night: { type: 'boolean', default: false },
      model: { type: 'string', default: 'tiny' },
      workers: { type: 'string', default: 'tiny' },
      device: { type: 'string', default: 'cpu' },
    },
  }).values;
  const root = resolve(folder ?? '.conductor/specialists');
  const tell = timed();
  if (night && device === 'cuda')
    throw new RangeError(
      '--night uses the policy server of "train up", which runs on the CPU: remove --device.',
    );
  const seeds = seedsFrom(values);
  if (!night && seeds.length === 0) return report(root, tell);
  const recipe = await readModels({ ...values, device }, tell);
  await teachWorkers(root, recipe, tell);
  useAllCores(recipe);
  const { lost, need } = needProcesses(root);
  const { workers } = recipe.school;
  const models = workers.flatMap((worker) => ['--model', `${worker.id}=${modelOf(root, worker)}`]);
  const seed = readWhole('--first', values.first);
  const port = night ? await workersPort(root, seed) : 0;
  const options = [
    '--port',
    `${port}`,
    '--device',
    recipe.device,
    '--in-memory',
    `${workers.length}`,
    ...models,
  ];
  const server = need('workers’ server', await runPython('policy_server', options));
  const { url } = z.object({ url: z.string() }).parse(server.ready);
  const crew = openCrew(`${url}/v1`, workers);
  try {
    const work = night
      ? spendNight(crew, root, { seed, recipe }, tell)
      : learn(crew, root, { recipe, lesson: readWord('--lesson', lesson, LESSONS) }, seeds, tell);
    await unlessAborted(lost, work);
  } finally {
    await server.stop();
  }
}

/** Lets the trainer use all cores for a language model; its default of one core suits only tiny networks. */
function useAllCores({ base, school }: Recipe): void {
  if ([base, school.base].some(({ kind }) => kind === 'folder'))
    process.env.OMP_NUM_THREADS ??= String(availableParallelism());
}

async function readModels(
  { model, workers, device }: Readonly<Record<'model' | 'workers' | 'device', string>>,
  tell: (line: string) => void,
): Promise<Recipe> {
  const tiny = { ...TINY, device: readWord('--device', device, ['cpu', 'cuda']) };
  const isModel = readWord('--model', model, MODELS) === 'smollm2';
  const areWorkers = readWord('--workers', workers, MODELS) === 'smollm2';
  if (!isModel && !areWorkers) return tiny;
  const path = await smollm2Folder(tell);
  const recipe = isModel ? smollm2Recipe(path, tiny.device) : tiny;
  return areWorkers ? { ...recipe, school: smollm2School(path) } : recipe;
}

async function learn(
  crew: Crew,
  root: string,
  wish: Omit<SeedWish, 'seed'>,
  seeds: readonly number[],
  tell: (line: string) => void,
): Promise<void> {
  tell('measuring what the workers can do, unless already measured');
  const abilities = await measureWorkers(root, crew);
  console.log(renderReportMarkdown(reportWorkers(abilities)));
  for (const seed of seeds) await runSeed(crew, root, { ...wish, seed }, tell);
  tell('measuring what is possible without a Conductor that reads, unless already measured');
  await measureBaselines(root, crew, wish.recipe, abilities);
  await report(root, tell);
}

async function report(root: string, tell: (line: string) => void): Promise<void> {
  const { abilities, baselines } = await readMeasured(root);
  const told = await reportSeeds(abilities, baselines, await readSeeds(root));
  console.log(renderReportMarkdown(told));
  (await writeReport(told, join(root, 'report'))).forEach(tell);
}

main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : String(error));
  // Exits at once, since calls to a lost process may still be open.
  process.exit(1);
});

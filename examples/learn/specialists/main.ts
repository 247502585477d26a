import { parseArgs } from 'node:util';
import { join, resolve } from 'node:path';
import { z } from 'zod';
import { renderMarkdown, writeReport } from '../../../src/evaluation/report/report';
import { timed } from '../plain/run-course';
import { needProcesses, runPython, whileAlive } from '../support/programs';
import { type Measured, measureOnce, readMeasured } from './baselines';
import { type Crew, openCrew } from './crew';
import { type Lesson, LESSONS } from './learn';
import { spendNight } from './night';
import { RECIPE } from './recipe';
import { abilityTable } from './matrix';
import { reportSeeds } from './report';
import { modelOf, teachWorkers } from './school';
import { readSeeds, runSeed } from './seed';
import { SCHOOLINGS } from './workers';

// Workers that learned one or two skills each, by the product's own commands; what can be had of them by plans; and a
// Conductor that learns to write them from rewards, in a plain loop without Temporal:
//   npm run learn -- specialists [--folder DIR] [--seeds 1] [--first 0] [--lesson verdicts|shuffled|none]
//   npm run learn -- specialists --night [--folder DIR] [--first 0]
// Workers that were taught stay in the folder, as does each seed, which goes on where it was killed. At its end it tells
// of all seeds in the folder, and writes `report/` there; `--seeds 0` only reads what is kept. `--night` has one learn on
// the whole stack instead.

async function main(): Promise<void> {
  const { folder, seeds, first, lesson, night } = parseArgs({
    options: {
      folder: { type: 'string', default: '.conductor/specialists' },
      seeds: { type: 'string', default: '1' },
      first: { type: 'string', default: '0' },
      lesson: { type: 'string', default: 'verdicts' },
      night: { type: 'boolean', default: false },
    },
  }).values;
  const root = resolve(folder);
  const tell = timed();
  const asked = Array.from({ length: Number(seeds) }, (_, index) => Number(first) + index);
  if (!night && asked.length === 0) return report(root, await readMeasured(root), tell);
  await teachWorkers(root, tell);
  const { lost, need } = needProcesses(root);
  const models = SCHOOLINGS.flatMap((schooling) => [
    '--model',
    `${schooling.id}=${modelOf(root, schooling)}`,
  ]);
  const options = ['--port', '0', '--in-memory', `${SCHOOLINGS.length}`, ...models];
  const server = need('workers’ server', await runPython('policy_server', options));
  const { url } = z.object({ url: z.string() }).parse(server.ready);
  const workersUrl = `${url}/v1`;
  const crew = openCrew(workersUrl);
  try {
    const work = night
      ? spendNight(crew, root, { seed: Number(first), recipe: RECIPE, workersUrl }, tell)
      : learn(crew, root, readLesson(lesson), asked, tell);
    await whileAlive(lost, work);
  } finally {
    await server.stop();
  }
}

function readLesson(text: string): Lesson {
  const lesson = LESSONS.find((each) => each === text);
  if (lesson === undefined)
    throw new RangeError(`--lesson is ${JSON.stringify(text)}: give ${LESSONS.join(', ')}.`);
  return lesson;
}

async function learn(
  crew: Crew,
  root: string,
  lesson: Lesson,
  seeds: readonly number[],
  tell: (line: string) => void,
): Promise<void> {
  for (const seed of seeds) await runSeed(crew, root, { seed, lesson, recipe: RECIPE }, tell);
  tell('measuring what can be had without a Conductor that reads, if that was not done yet');
  await report(root, await measureOnce(root, crew), tell);
}

async function report(
  root: string,
  { abilities, scores }: Measured,
  tell: (line: string) => void,
): Promise<void> {
  const told = await reportSeeds(abilityTable(abilities), scores, await readSeeds(root));
  console.log(renderMarkdown(told));
  (await writeReport(told, join(root, 'report'))).forEach(tell);
}

main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : String(error));
  // Ends calls that would outlive the lost process.
  process.exit(1);
});

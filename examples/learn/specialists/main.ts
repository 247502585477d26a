import { parseArgs } from 'node:util';
import { resolve } from 'node:path';
import { z } from 'zod';
import { timed } from '../plain/run-course';
import { needProcesses, runPython, whileAlive } from '../support/programs';
import { measureBaselines } from './baselines';
import { type Crew, openCrew } from './crew';
import { type Lesson, LESSONS, RECIPE } from './learn';
import { describeAbilities, measureAbilities } from './matrix';
import { describeSeeds } from './report';
import { modelOf, teachWorkers } from './school';
import { type KeptSeed, runSeed } from './seed';
import { SCHOOLINGS } from './workers';

// Workers that learned one or two skills each, by the product's own commands; what can be had of them by plans; and a
// Conductor that learns to write them from rewards, in a plain loop without Temporal:
//   npm run learn -- specialists [--folder DIR] [--seeds 1] [--first 0] [--lesson verdicts|shuffled|none]
// Workers that were taught stay in the folder, as does each seed, which goes on where it was killed.

async function main(): Promise<void> {
  const { folder, seeds, first, lesson } = parseArgs({
    options: {
      folder: { type: 'string', default: '.conductor/specialists' },
      seeds: { type: 'string', default: '1' },
      first: { type: 'string', default: '0' },
      lesson: { type: 'string', default: 'verdicts' },
    },
  }).values;
  const root = resolve(folder);
  const tell = timed();
  await teachWorkers(root, tell);
  const { lost, need } = needProcesses(root);
  const models = SCHOOLINGS.flatMap((schooling) => [
    '--model',
    `${schooling.id}=${modelOf(root, schooling)}`,
  ]);
  const options = ['--port', '0', '--in-memory', `${SCHOOLINGS.length}`, ...models];
  const server = need('workers’ server', await runPython('policy_server', options));
  const { url } = z.object({ url: z.string() }).parse(server.ready);
  try {
    const asked = Array.from({ length: Number(seeds) }, (_, index) => Number(first) + index);
    await whileAlive(lost, learn(openCrew(`${url}/v1`), root, readLesson(lesson), asked, tell));
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
  const abilities = await measureAbilities(crew);
  describeAbilities(abilities).forEach(tell);
  const baselines = await measureBaselines(crew, abilities);
  const kept: KeptSeed[] = [];
  for (const seed of seeds) kept.push(await runSeed(crew, root, { seed, lesson, recipe: RECIPE }, tell));
  describeSeeds(baselines, kept).forEach(tell);
}

main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : String(error));
  // Ends calls that would outlive the lost process.
  process.exit(1);
});

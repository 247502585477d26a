import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { z } from 'zod';
import type { Plan } from '../../../src/plan/plan';
import { timed } from '../plain/run-course';
import { needProcesses, runPython, whileAlive } from '../support/programs';
import { type Crew, openCrew } from './crew';
import { describeAbilities, measureAbilities } from './matrix';
import * as questions from './questions';
import { modelOf, teachWorkers } from './school';
import { accuracyOf, bestPlan, searchPlans } from './search';
import { SCHOOLINGS } from './workers';

// Workers that learned one or two skills each, by the product's own commands, and what can be had of them by plans:
//   npm run learn -- specialists [--folder DIR]
// What was taught stays in the folder, and is not taught again.

async function main(): Promise<void> {
  const { folder } = parseArgs({ options: { folder: { type: 'string', default: '.specialists' } } }).values;
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
    await whileAlive(lost, measure(openCrew(`${url}/v1`), tell));
  } finally {
    await server.stop();
  }
}

/** Questions of each composition that plans are chosen on, and that they are tried on. */
const CHOSEN_ON = 10;
const TRIED_ON = 30;

const SETS = [
  ['singles', questions.SINGLES],
  ['trained pairs', questions.TRAINED_PAIRS],
  ['held-out pairs', questions.HELD_OUT_PAIRS],
  ['trained triples', questions.TRAINED_TRIPLES],
  ['held-out triples', questions.HELD_OUT_TRIPLES],
] as const;

async function measure(crew: Crew, tell: (line: string) => void): Promise<void> {
  const abilities = await measureAbilities(crew);
  describeAbilities(abilities).forEach(tell);
  const all = SETS.flatMap(([, compositions]) => compositions);
  const search = await searchPlans(
    crew,
    abilities,
    questions.questionSet(all, 'train', CHOSEN_ON * all.length, 'chosen on'),
  );
  tell(`${search.links.length} steps are worth trying; ${crew.sent()} requests so far`);
  const constant = bestPlan(search).plan;
  const rows: readonly (readonly [string, (topic: string) => Plan])[] = [
    ['best plan of each composition', (topic) => bestPlan(search, topic).plan],
    ['best worker and subtask of each', (topic) => bestPlan(search, topic, 1).plan],
    ['best constant plan', () => constant],
    ['best constant step', () => bestPlan(search, undefined, 1).plan],
  ];
  tell(['', ...SETS.map(([name]) => name)].map((cell) => cell.padStart(17)).join(''));
  for (const [name, planFor] of rows) {
    const cells: string[] = [];
    for (const [, compositions] of SETS) {
      const set = questions.questionSet(compositions, 'heldOut', TRIED_ON * compositions.length, 'tried on');
      cells.push((await accuracyOf(crew, set, planFor)).toFixed(3).padStart(17));
    }
    tell(`${name}\n${' '.repeat(17)}${cells.join('')}`);
  }
}

main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : String(error));
  // Ends calls that would outlive the lost process.
  process.exit(1);
});

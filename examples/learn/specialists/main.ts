import { mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { z } from 'zod';
import type { Plan } from '../../../src/plan/plan';
import type { Checkpoint } from '../../../src/training/trainer-contract';
import { startStepServer } from '../plain/lesson';
import { timed } from '../plain/run-course';
import { mean } from '../plain/scoring';
import { needProcesses, runPython, whileAlive } from '../support/programs';
import { type Crew, openCrew } from './crew';
import { type Cycle, type Desk, learn, RECIPE, tryOut, warmUp } from './learn';
import { describeAbilities, measureAbilities } from './matrix';
import * as questions from './questions';
import { modelOf, teachWorkers } from './school';
import { accuracyOf, bestPlan, searchPlans } from './search';
import { SCHOOLINGS } from './workers';

// Workers that learned one or two skills each, by the product's own commands; what can be had of them by plans; and a
// Conductor that learns to write them from rewards, in a plain loop without Temporal:
//   npm run learn -- specialists [--folder DIR] [--seeds 1] [--first 0]
// What workers were taught stays in the folder, and is not taught again. Without seeds, no Conductor learns.

async function main(): Promise<void> {
  const { folder, seeds, first } = parseArgs({
    options: {
      folder: { type: 'string', default: '.conductor/specialists' },
      seeds: { type: 'string', default: '0' },
      first: { type: 'string', default: '0' },
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
    const crew = openCrew(`${url}/v1`);
    await whileAlive(lost, measure(crew, tell));
    for (let seed = Number(first); seed < Number(first) + Number(seeds); seed += 1)
      await whileAlive(lost, learnSeed(crew, root, seed, tell));
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

/** Cycles that are told of as one line. */
const TOLD = 10;

async function learnSeed(
  crew: Crew,
  root: string,
  seed: number,
  tell: (line: string) => void,
): Promise<void> {
  const trainRun = `conductor-${seed}-${Date.now().toString(36)}`;
  const folder = join(root, trainRun);
  await mkdir(folder, { recursive: true });
  const { lost, need } = needProcesses(folder);
  const server = need('policy server', await runPython('policy_server', ['--port', '0']));
  const { url } = z.object({ url: z.string() }).parse(server.ready);
  const steps = await startStepServer(root);
  const desk = { seed, recipe: RECIPE, crew, steps, policyUrl: `${url}/v1`, trainRun, folder };
  try {
    await whileAlive(lost, teach(desk, tell));
  } finally {
    await Promise.all([steps.close(), server.stop()]);
  }
}

async function teach(desk: Desk, tell: (line: string) => void): Promise<void> {
  tell(`seed ${desk.seed}`);
  let checkpoint = await warmUp(desk);
  tell(await describeScores(desk, checkpoint, 'warm start'));
  const part: Cycle[] = [];
  for await (const cycle of learn(desk, checkpoint)) {
    checkpoint = cycle.checkpoint;
    part.push(cycle);
    if (cycle.cycle % TOLD === 0) tell(describeCycles(part.splice(0)));
    if (cycle.cycle % (6 * TOLD) === 0) tell(await describeScores(desk, checkpoint, `cycle ${cycle.cycle}`));
  }
}

function describeCycles(cycles: readonly Cycle[]): string {
  const played = cycles.flatMap((cycle) => cycle.played);
  const shareOf = (length: number): string => {
    const own = played.filter(({ row }) => row.topic.split('-').length === length);
    return mean(own.map(({ verdict }) => (verdict === 'correct' ? 1 : 0))).toFixed(3);
  };
  const last = cycles.at(-1);
  return [
    `cycle ${last?.cycle} (${last?.part})`,
    `plans ${mean(played.map(({ plan }) => (plan === null ? 0 : 1))).toFixed(3)}`,
    `steps ${mean(played.flatMap(({ plan }) => plan?.steps.length ?? [])).toFixed(2)}`,
    `right: singles ${shareOf(1)}, pairs ${shareOf(2)}, triples ${shareOf(3)}`,
  ].join('  ');
}

async function describeScores(desk: Desk, checkpoint: Checkpoint, name: string): Promise<string> {
  const scores: string[] = [];
  for (const [set, compositions] of SETS) {
    const rows = questions.questionSet(compositions, 'heldOut', LOOKED_AT * compositions.length, 'looked at');
    scores.push(`${set} ${(await tryOut(desk, checkpoint, rows)).toFixed(3)}`);
  }
  return `${name}, greedy: ${scores.join(', ')}`;
}

/** Questions of each composition that a Conductor is tried on meanwhile. */
const LOOKED_AT = 12;

main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : String(error));
  // Ends calls that would outlive the lost process.
  process.exit(1);
});

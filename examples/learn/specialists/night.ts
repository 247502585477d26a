import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { stringify } from 'yaml';
import type { TrainableInput } from '../../../src/training/config/schema';
import { runCommand, startUp, warmStartArguments } from '../demo/town';
import { toJsonLines } from '../world/questions';
import { evenExamples, PROMPT } from './conductor';
import { type Crew, crewConfig } from './crew';
import { MOST_PROMPT, MOST_TOKENS, REWARDS } from './play';
import { compositionSets, HELD_OUT_PAIRS, questionSet, type QuestionRow, trainingSet } from './questions';
import type { Recipe } from './recipe';
import { freePort, NETWORK } from './school';
import { LOOKED_AT, TRIED_ON } from './scores';

/** A seed on the whole stack, and where its workers are asked. */
interface NightWish {
  readonly seed: number;
  readonly recipe: Recipe;
  /** Base URL of the workers' server, ending in `/v1`. */
  readonly workersUrl: string;
}

/**
 * A Conductor's way by the product's own commands: warm start, one night of imitation and GRPO, its gate, a solve, and an
 * evaluation on the questions that the plain loop's Conductors are tried on.
 */
export async function spendNight(
  { ids }: Pick<Crew, 'ids'>,
  root: string,
  wish: NightWish,
  tell: (line: string) => void,
): Promise<void> {
  const { seed, recipe } = wish;
  const folder = join(root, `night-${seed}`);
  await mkdir(folder, { recursive: true });
  const files = {
    'train.jsonl': trainingSet(recipe.sets, seed),
    'held-out.jsonl': heldOut(LOOKED_AT),
    'tried-on.jsonl': heldOut(TRIED_ON),
    'examples.jsonl': evenExamples(ids, recipe, recipe.warmStart.examples, seed),
    'conductor.yaml': configOf(wish, await freePort()),
  };
  for (const [name, content] of Object.entries(files)) {
    await writeFile(join(folder, name), Array.isArray(content) ? toJsonLines(content) : stringify(content));
  }
  const up = await startUp(folder, 'train', 'up');
  const command = (...args: readonly string[]): Promise<string> => runCommand(folder, args);
  try {
    const warm = await command(...warmStartArguments('examples.jsonl', recipe.warmStart));
    await command('train', 'promote', warm, '--reason', 'it writes plans');
    await command('train', 'start');
    tell(`${warm} serves, and the night has begun: follow it by "train status" in ${folder}`);
    tell(await command('train', 'status'));
    const [row] = questionSet(HELD_OUT_PAIRS, 'heldOut', 1, 'shown');
    tell(await command('solve', row?.question ?? ''));
    tell(await command('eval', 'tried-on.jsonl', '--methods', 'conductor', '--out', 'evaluation'));
  } finally {
    await up.stop();
  }
}

/** Questions of all sets, with ids of their own. */
function heldOut({ name, count }: typeof TRIED_ON): QuestionRow[] {
  const sets = compositionSets('heldOut', count, name);
  return sets.flatMap(([set, rows]) => rows.map((row) => ({ ...row, id: `${set} ${row.id}` })));
}

function configOf({ seed, recipe, workersUrl }: NightWish, policyPort: number): TrainableInput {
  const { warmStart, imitation, rewards, questions, groupSize } = recipe;
  const { steps, batch, learningRate, warmupSteps } = warmStart;
  const cycles = imitation.cycles + rewards.cycles;
  const { style: prompt, describe, access } = PROMPT;
  return {
    conductor: { provider: 'policy' },
    ...crewConfig(workersUrl),
    training: {
      run: `seed-${seed}`,
      seed,
      data: { train: 'train.jsonl', heldOut: 'held-out.jsonl' },
      base: NETWORK,
      warmStart: { examples: 'examples.jsonl', steps, batch, learningRate, warmupSteps },
      imitation,
      cycles,
      totalCycles: cycles,
      questions,
      groupSize,
      maxDraws: questions,
      minFormatRate: 0,
      staleness: 1,
      window: 64,
      reward: REWARDS,
      policy: {
        baseUrl: `http://127.0.0.1:${policyPort}/v1`,
        prompt,
        describe,
        access,
        maxPromptTokens: MOST_PROMPT,
        maxOutputTokens: MOST_TOKENS,
      },
      gate: { samples: 1 },
      trainer: {
        device: 'cpu',
        precision: 'float32',
        loss: { name: 'dapo', epsilonHigh: 0.28 },
        optimizer: { learningRate: rewards.learningRate, schedule: 'constant', warmupSteps: 4 },
        microBatch: 192,
        iterations: rewards.iterations,
        minibatches: rewards.minibatches,
      },
    },
  };
}

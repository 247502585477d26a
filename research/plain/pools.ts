import type { RunWorker } from '../../src/protocol/cards';
import { drawWorkers, samplingSeed } from '../../src/training/draw';
import { lowerBound } from '../../src/statistics/statistics';
import type { Checkpoint } from '../../src/training/trainer-contract';
import { findOptimum, optimumFor, toReward } from '../world/optimum';
import { questionSet } from '../world/questions';
import { MIDDLE_WORLD, NEWCOMER, teamsOf, withWorkers } from '../world/world';
import { carryOut, planIn, sampleRound } from './group';
import { type Taught, teach } from './learn';
import type { Lesson, Sampled } from './lesson';
import { workersFor } from './notes';
import { type Recipe, SMALL, WHOLE } from './recipe';
import { runCourse } from './run-course';
import { chanceIn, halfWidth95, mean } from './scoring';

// Trains a Conductor with changing teams of workers, described by notes that were measured on the training questions:
//   npm run learn -- pools [--cost-weight USD] [--seeds 1] [--first 0] [--cycles N] [--folder DIR]
// Training without Temporal, with the product's own draws, prompts, rewards, trainer and policy server. Exits with 1
// if teams never trained on stay below 0.95 of their own optimum, or if the notes are not used. Teams with a worker
// that no policy learned with are also tested. A cost weight makes cheap teams earn more; the ratio to the optimum
// ignores costs.

const LEAST = 2;

/**
 * Takes thirteen minutes of one core. The warm start is long because rewards can teach whom to ask only once the
 * policy reads the notes: a policy that ignores them asks the same worker for everything.
 */
const POOLS: Recipe = {
  ...SMALL,
  world: MIDDLE_WORLD,
  train: 1200,
  heldOut: 16,
  describe: 'notes',
  pool: {
    adaptive: true,
    least: LEAST,
    permuteIds: true,
    heldOut: teamsOf(MIDDLE_WORLD, 'heldOut', LEAST).map(({ workers }) => workers.map(({ id }) => id)),
  },
  warmStart: { ...SMALL.warmStart, examples: 20_000, steps: 2400 },
  learning: {
    ...WHOLE.learning,
    cycles: 80,
    tuning: { kind: 'lora', rank: 16, alpha: 32, targets: 'all-linear' },
  },
};

async function learnPools(lesson: Lesson, tell: (line: string) => void): Promise<boolean> {
  for (const { id, notes } of lesson.workers) tell(`  ${id}: ${notes}`);
  const measure = async (checkpoint: Checkpoint): Promise<PoolTrial> => {
    const greedy = await tryTeams(lesson, checkpoint, { temperature: 0, notes: 'own' });
    const own = await tryTeams(lesson, checkpoint, { temperature: 0.2, notes: 'own' });
    const swapped = await tryTeams(lesson, checkpoint, { temperature: 0.2, notes: 'swapped' });
    const joined = await tryTeams(withNewcomer(lesson), checkpoint, { temperature: 0.2, notes: 'own' });
    tell(tellTeams(own));
    tell(
      `ratio ${ratioOf(own).toFixed(3)}, greedy ${ratioOf(greedy).toFixed(3)}, notes swapped ${ratioOf(swapped).toFixed(3)}`,
    );
    return { own, swapped, joined };
  };
  const taught = await teach(lesson, tell, measure);
  tell(tellPools(taught));
  return holdsForPools(taught);
}

/** Scores of a policy with teams that it did not learn with, on the same questions. */
export interface PoolTrial {
  readonly own: readonly TeamScore[];
  /** Scores when each worker has a teammate's notes. */
  readonly swapped: readonly TeamScore[];
  /** Scores of teams that the newcomer joined. */
  readonly joined: readonly TeamScore[];
}

/** Adds the newcomer to a lesson, with measured notes like the others', and forms a team with every pair of them. */
function withNewcomer(lesson: Lesson): Lesson {
  const { recipe, seed } = lesson;
  const world = { ...recipe.world, workers: [...recipe.world.workers, NEWCOMER] };
  const known = recipe.world.workers.map(({ id }) => id);
  const teams = known.flatMap((one, index) =>
    known.slice(index + 1).map((other) => [one, other, NEWCOMER.id]),
  );
  const wider = { ...recipe, world, pool: { ...recipe.pool, heldOut: teams } };
  return { ...lesson, recipe: wider, workers: workersFor(wider, seed) };
}

/** Minimum share of their own optimum that unseen teams must reach, but not yet after the warm start. */
const LEAST_RATIO = 0.95;

/** Returns whether unseen teams come near their own optimum only after training, and whether the notes are used. */
export function holdsForPools({ before, after }: Taught<PoolTrial>): boolean {
  const isReached = ratioOf(after.own) >= LEAST_RATIO && ratioOf(before.own) < LEAST_RATIO;
  return isReached && (lowerBound(lossesOf(after), 0.05) ?? 0) > 0;
}

/** Describes these figures in one line. */
export function tellPools({ before, after }: Taught<PoolTrial>): string {
  const { own, swapped, joined } = after;
  const loss = (mean(lossesOf(after)) / bestOf(own)).toFixed(3);
  const lossSpread = (halfWidth95(lossesOf(after)) / bestOf(own)).toFixed(3);
  return (
    `pools: held-out subsets ratio ${tellRatio(own)} (start ${ratioOf(before.own).toFixed(3)}, ` +
    `notes permuted ${ratioOf(swapped).toFixed(3)}: less by ${loss} ± ${lossSpread}), ` +
    `with a newcomer ${tellRatio(joined)} (start ${ratioOf(before.joined).toFixed(3)}), ` +
    `USD for a thousand plans ${costOf(own).toFixed(3)} (start ${costOf(before.own).toFixed(3)})`
  );
}

function tellRatio(scores: readonly TeamScore[]): string {
  const ratio = ratioOf(scores);
  const spread = halfWidth95(scores.map(({ reward, best }) => reward - ratio * best)) / bestOf(scores);
  return `${ratio.toFixed(3)} ± ${spread.toFixed(3)}`;
}

/** Describes the ratio of each team. */
export function tellTeams(scores: readonly TeamScore[]): string {
  const teams = [...new Set(scores.map(({ team }) => team))];
  return teams
    .map((team) => `${team.join('+')} ${ratioOf(scores.filter((score) => score.team === team)).toFixed(3)}`)
    .join('  ');
}

/** Returns the mean reward divided by that of the best plans. */
export function ratioOf(scores: readonly TeamScore[]): number {
  return mean(scores.map(({ reward }) => reward)) / bestOf(scores);
}

/** Returns the USD for a thousand plans. */
function costOf(scores: readonly TeamScore[]): number {
  return mean(scores.map(({ nanoUsd }) => nanoUsd)) / 1e6;
}

function bestOf(scores: readonly TeamScore[]): number {
  return mean(scores.map(({ best }) => best));
}

/** Returns the reward lost by swapped notes, per question. */
function lossesOf({ own, swapped }: PoolTrial): number[] {
  return own.map(({ reward }, index) => reward - (swapped[index]?.reward ?? reward));
}

/** Exact score of a policy on one question with one team. */
export interface TeamScore {
  /** Ids of the workers. */
  readonly team: readonly string[];
  /** Mean over its plans. */
  readonly reward: number;
  /** Reward of this team's best plan. */
  readonly best: number;
  /** Mean cost of its plans' workers, in 10⁻⁹ USD. */
  readonly nanoUsd: number;
}

/** Settings of a test. */
export interface Trial {
  readonly temperature: number;
  /** `swapped`: each worker has the notes of a teammate. */
  readonly notes: 'own' | 'swapped';
}

/** Plans per question and team. */
const SAMPLES = 4;

/** Tests a checkpoint with the held-out teams on held-out questions, with the workers in a new order each time. */
export async function tryTeams(lesson: Lesson, checkpoint: Sampled, trial: Trial): Promise<TeamScore[]> {
  const { recipe, seed, workers } = lesson;
  const questions = questionSet(recipe.world, 'heldOut', recipe.heldOut, seed);
  const scores: TeamScore[] = [];
  for (const [number, ids] of recipe.pool.heldOut.entries()) {
    const world = withWorkers(recipe.world, ids);
    const optimum = findOptimum(world);
    for (const [index, { question, topic }] of questions.entries()) {
      const draw = number * questions.length + index;
      const present = workers.filter(({ id }) => ids.includes(id));
      const team = drawWorkers(present, { seed, cycle: 0, draw, pool: { ...recipe.pool, adaptive: false } });
      const samples = await sampleRound(
        lesson,
        checkpoint,
        { question, workers: trial.notes === 'own' ? team : withSwappedNotes(team), plans: SAMPLES },
        {
          seed: samplingSeed({ seed, purpose: 'evaluation', cycle: 0, draw, round: 0 }),
          temperature: trial.temperature,
        },
      );
      const inOrder = withWorkers(
        world,
        team.map(({ id }) => id),
      );
      const rewards = samples.map(({ text }) => {
        const chance = chanceIn(inOrder, question, text);
        return chance === null ? 0 : toReward(chance);
      });
      const costs = samples.map(({ text }, place) => {
        const plan = planIn(inOrder, text);
        const name = `teams/${draw}/${place}`;
        return plan === null ? 0 : carryOut(plan, { world: inOrder, seed, question, name }).nanoUsd;
      });
      const best = toReward(optimumFor(world, optimum, topic).best.chance);
      scores.push({ team: ids, reward: mean(rewards), best, nanoUsd: mean(costs) });
    }
  }
  return scores;
}

function withSwappedNotes(team: readonly RunWorker[]): RunWorker[] {
  return team.map((worker, index) => ({ ...worker, notes: team[(index + 1) % team.length]?.notes ?? null }));
}

function withCostWeight(recipe: Recipe, weight: string): Recipe {
  const costWeight = Number(weight);
  if (costWeight >= 0) return { ...recipe, costWeight };
  throw new Error(`--cost-weight takes a number from 0 on, not "${weight}".`);
}

if (require.main === module) runCourse(POOLS, learnPools, { name: 'cost-weight', change: withCostWeight });

import type { Plan, Step } from '../../src/plan/plan';
import { renderPlan } from '../../src/plan/render';
import { findOptimum, kindOf, type Optimum, optimumFor, type TopicOptimum } from './optimum';
import type { QuestionRow } from './questions';
import {
  type Dice,
  diceFor,
  drawTeam,
  type Kind,
  type Topic,
  topicOf,
  workerOf,
  type World,
  type WorldWorker,
} from './world';

/** A prompt and a policy's possible reply, to learn from before any reward. */
export interface WarmStartExample {
  readonly prompt: string;
  readonly completion: string;
}

export interface WarmStartOptions {
  readonly world: World;
  readonly questions: readonly QuestionRow[];
  /** Number of all examples; questions repeat if there are fewer. */
  readonly count: number;
  readonly seed: number;
  /** Default: `DECOY_PRIOR`, which mostly writes bad plans. */
  readonly prior?: Prior;
  /**
   * Each example has the workers of one of these, in random order; default: the world's workers, in its order. The
   * line of reasoning then names each step's worker by specialty and ordinal, so that the policy looks it up in its
   * prompt.
   */
  readonly teams?: readonly World[];
  /** Returns all that the policy reads, for one question and some workers. */
  readonly promptFor: (question: string, workers: readonly WorldWorker[]) => string;
}

/**
 * Returns examples for a policy's warm start: it learns the format of plans, the topics, and mostly bad plans.
 *
 * Each starts with a line of reasoning that names the topic, so that what the policy learns of one topic does not
 * become a habit in all.
 */
export function warmStartExamples(options: WarmStartOptions): WarmStartExample[] {
  const { world, questions, count, seed, prior = DECOY_PRIOR, teams, promptFor } = options;
  const optimumOf = remembered();
  return Array.from({ length: count }, (_, index) => {
    const dice = diceFor('warm start', world.name, seed, index);
    const team = teams === undefined ? world : drawTeam(teams, dice);
    const { question, topic } = dice.pick(questions);
    const plan = drawPriorPlan(team, optimumFor(team, optimumOf(team), topic), prior, dice);
    const steps = reasoning(team, plan, teams !== undefined);
    return {
      prompt: promptFor(question, team.workers),
      completion: `About ${topic}: ${steps}.\n${renderPlan(
        plan,
        team.workers.map(({ id }) => id),
      )}`,
    };
  });
}

function reasoning(world: World, { steps }: Plan, withWorkers: boolean): string {
  const wanted = steps.map(({ worker, subtask }) => {
    const kind = kindOf(subtask);
    if (!withWorkers) return kind;
    const ordinal = world.workers.findIndex(({ id }) => id === worker);
    return `${kind} by ${workerOf(world, worker).specialty}${ordinal}`;
  });
  return wanted.join(', ');
}

/** Returns a function that finds each team's optimum once, whatever the order of its workers. */
function remembered(): (world: World) => Optimum {
  const known = new Map<string, Optimum>();
  return (world) => {
    const key = world.workers
      .map(({ id }) => id)
      .sort()
      .join();
    const optimum = known.get(key) ?? findOptimum(world);
    known.set(key, optimum);
    return optimum;
  };
}

/** Probabilities by which an untrained policy draws its plans. */
export interface Prior {
  /** Chance that a plan has the shape (the kinds of its steps) of the topic's best one. */
  readonly bestShape: number;
  /** Chance that it has the topic's decoy shape. The highest, so that the most likely plan is a bad one. */
  readonly decoyShape: number;
  /** Chance that it otherwise has a shape that makes sense; else its kinds are drawn evenly. */
  readonly sensibleShape: number;
  /** Chance that a step has the worker that does such a step best. */
  readonly bestWorker: number;
  /** Chance that a step has the topic's decoy worker; else its worker is drawn evenly. */
  readonly decoyWorker: number;
  /** Chance that a later step sees all earlier ones, else none. */
  readonly seesAll: number;
}

/** A prior that knows what plans are, and mostly writes bad ones. */
export const DECOY_PRIOR: Prior = {
  bestShape: 0.25,
  decoyShape: 0.35,
  sensibleShape: 0.8,
  bestWorker: 0.25,
  decoyWorker: 0.35,
  seesAll: 0.85,
};

/** Prior that has the best shapes and workers only by chance. */
const BLIND_PRIOR: Prior = { ...DECOY_PRIOR, bestShape: 0, bestWorker: 0 };

const PRIORS: Readonly<Record<string, Prior>> = { decoy: DECOY_PRIOR, blind: BLIND_PRIOR };

/** Returns the prior that `--prior` names. */
export function priorNamed(name: string): Prior {
  const prior = PRIORS[name];
  if (prior) return prior;
  throw new Error(`--prior takes ${Object.keys(PRIORS).join(' or ')}, not "${name}".`);
}

const KINDS: readonly Kind[] = ['plan', 'solve', 'verify', 'refine'];

const SENSIBLE: readonly (readonly Kind[])[] = [
  ['solve'],
  ['solve', 'verify'],
  ['solve', 'refine'],
  ['plan', 'solve'],
  ['plan', 'solve', 'verify'],
  ['plan', 'solve', 'refine'],
];

/** Draws a plan of an untrained policy for one topic. */
export function drawPriorPlan(world: World, optimum: TopicOptimum, prior: Prior, dice: Dice): Plan {
  const topic = topicOf(world, optimum.topic);
  const shape = drawShape(world, topic, optimum, prior, dice);
  return { steps: shape.map((kind, index) => drawStep(world, topic, kind, index, prior, dice)) };
}

function drawShape(
  { maxSteps }: World,
  { decoy }: Topic,
  { best }: TopicOptimum,
  prior: Prior,
  dice: Dice,
): readonly Kind[] {
  const drawn = dice.roll();
  if (drawn < prior.bestShape) return best.plan.steps.map(({ subtask }) => kindOf(subtask));
  if (drawn < prior.bestShape + prior.decoyShape) return decoy.shape;
  if (dice.happens(prior.sensibleShape))
    return dice.pick(SENSIBLE.filter(({ length }) => length <= maxSteps));
  const length = 1 + Math.floor(dice.roll() * maxSteps);
  return Array.from({ length }, () => dice.pick(KINDS));
}

function drawStep(world: World, topic: Topic, kind: Kind, index: number, prior: Prior, dice: Dice): Step {
  const seesAll = index > 0 && dice.happens(prior.seesAll);
  return {
    worker: drawWorker(world, topic, kind, prior, dice),
    subtask: world.phrases[kind],
    sees: seesAll ? Array.from({ length: index }, (_, earlier) => earlier) : [],
  };
}

function drawWorker(
  { workers }: World,
  { name, decoy }: Topic,
  kind: Kind,
  prior: Prior,
  dice: Dice,
): string {
  const drawn = dice.roll();
  const ids = workers.map(({ id }) => id);
  if (drawn < prior.bestWorker) return bestAt(workers, kind, name).id;
  if (drawn < prior.bestWorker + prior.decoyWorker && ids.includes(decoy.worker)) return decoy.worker;
  return dice.pick(ids);
}

function bestAt(workers: readonly WorldWorker[], kind: Kind, topic: Topic['name']): WorldWorker {
  return workers.reduce((best, worker) => (worker[kind][topic] > best[kind][topic] ? worker : best));
}

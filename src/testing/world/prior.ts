import type { Plan, Step } from '../../plan/plan';
import type { Dice } from './dice';
import type { TopicOptimum } from './find-optimum';
import { kindOf } from './kind-of';
import { topicOf, type Kind, type Topic, type World, type WorldWorker } from './world';

/** How an untrained policy draws its plans. All are chances. */
export interface Prior {
  /** That a plan has the shape (the kinds of its steps) of the topic's best one. */
  readonly bestShape: number;
  /** That it has the topic's decoy shape. More than any other, so that the most likely plan is a bad one. */
  readonly decoyShape: number;
  /** That it has one of the shapes that make sense, where it has neither; else its kinds are drawn evenly. */
  readonly sensibleShape: number;
  /** That a step has the worker that does such a step best. */
  readonly bestWorker: number;
  /** That a step has the topic's decoy worker; else its worker is drawn evenly. */
  readonly decoyWorker: number;
  /** That a later step sees all earlier ones, else none. */
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

const KINDS: readonly Kind[] = ['plan', 'solve', 'verify', 'refine'];

const SENSIBLE: readonly (readonly Kind[])[] = [
  ['solve'],
  ['solve', 'verify'],
  ['solve', 'refine'],
  ['plan', 'solve'],
  ['plan', 'solve', 'verify'],
  ['plan', 'solve', 'refine'],
];

/** A plan of an untrained policy for one topic. */
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

import type { Plan } from '../../src/plan/plan';
import { mean } from '../plain/scoring';
import { chanceOfPlan, everyPlan, findOptimum, type Optimum, toReward, type Valued } from './optimum';
import { drawPriorPlan, type Prior, priorNamed } from './warm-start';
import { type Dice, diceFor, type Topic, WHOLE_WORLD, type World } from './world';

// Baselines of a world, without a policy that reads questions:
//   npm run learn -- baselines
// The chances are exact; a table learner is told each question's topic, and learns from samples as a policy does.

/** Returns the single plan that is best for all topics, with its mean chance. */
export function bestConstant(world: World): Valued {
  let best: Valued = { plan: { steps: [] }, chance: 0 };
  for (const { plan } of everyPlan(world)) {
    const chance = mean(world.topics.map((topic) => chanceOfPlan(world, topic, plan)));
    if (chance > best.chance) best = { plan, chance };
  }
  return best;
}

/** Returns the mean chance of a router that knows the topic and asks the best worker for it. */
export function bestRouter({ topics }: Optimum): number {
  return mean(topics.map(({ single }) => single.chance));
}

/** Number of plans sampled from a prior. */
const LOOKED_AT = 20_000;

/** Returns the share of a prior's plans whose reward is within 3 % of the topic's best. */
export function shareNearBest(world: World, topic: Topic, prior: Prior, optimum: Optimum): number {
  const own = optimum.topics.find(({ topic: name }) => name === topic.name);
  if (own === undefined) throw new RangeError(`The optimum of the ${world.name} world lacks ${topic.name}.`);
  const dice = diceFor('near best', world.name, topic.name);
  const worth = valuesOf(world, topic);
  const least = 0.97 * toReward(own.best.chance);
  const drawn = Array.from({ length: LOOKED_AT }, () => worth(drawPriorPlan(world, own, prior, dice)));
  return mean(drawn.map((chance) => (toReward(chance) >= least ? 1 : 0)));
}

/** Returns a function that computes the chance of each plan of a topic once. */
function valuesOf(world: World, topic: Topic): (plan: Plan) => number {
  const known = new Map<string, number>();
  return (plan) => {
    const key = JSON.stringify(plan);
    const chance = known.get(key) ?? chanceOfPlan(world, topic, plan);
    known.set(key, chance);
    return chance;
  };
}

/** Turns per topic, each of one policy group's plans; together the rollouts of 130 cycles of the plain loop. */
const TURNS = 520;
const GROUP = 16;
const LEARNING_RATE = 0.3;

/**
 * Trains a learner without language: per topic, logits of the plan's length and of each step's worker, kind and view,
 * from a uniform start, by REINFORCE with the group's mean as baseline (Williams 1992). Returns the mean chance of its
 * plans at the end.
 */
export function learnTables(world: World, seed: number): number {
  return mean(world.topics.map((topic) => learnTable(world, topic, diceFor('tables', topic.name, seed))));
}

function learnTable(world: World, topic: Topic, dice: Dice): number {
  const tables = tablesOf(world);
  const worth = valuesOf(world, topic);
  for (let turn = 0; turn < TURNS; turn += 1) {
    const group = Array.from({ length: GROUP }, () => {
      const choices = choose(tables, dice);
      return { choices, reward: toReward(dice.happens(worth(planOf(world, choices))) ? 1 : 0) };
    });
    const baseline = mean(group.map(({ reward }) => reward));
    const before = tables.map(sharesOf);
    for (const { choices, reward } of group) reinforce(tables, before, choices, reward - baseline);
  }
  return mean(Array.from({ length: 1000 }, () => worth(planOf(world, choose(tables, dice)))));
}

/** Logits of the length, then of worker, kind and view of each step. */
type Tables = readonly number[][];

const KINDS = ['plan', 'solve', 'verify', 'refine'] as const;
const SLOTS = 3;

function tablesOf({ workers, maxSteps }: World): Tables {
  const step = [workers.length, KINDS.length, 2];
  const sizes = [maxSteps, ...Array.from({ length: maxSteps }, () => step).flat()];
  return sizes.map((size) => new Array<number>(size).fill(0));
}

function sharesOf(logits: readonly number[]): number[] {
  const weights = logits.map(Math.exp);
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  return weights.map((weight) => weight / total);
}

/** Draws a choice from each table, including those of steps beyond the plan's length. */
function choose(tables: Tables, dice: Dice): number[] {
  return tables.map((logits) => {
    let left = dice.roll();
    const place = sharesOf(logits).findIndex((share) => (left -= share) < 0);
    return place === -1 ? logits.length - 1 : place;
  });
}

function planOf({ workers, phrases }: World, [last = 0, ...choices]: readonly number[]): Plan {
  const steps = Array.from({ length: last + 1 }, (_, index) => {
    const [worker = 0, kind = 0, view = 0] = choices.slice(index * SLOTS, (index + 1) * SLOTS);
    return {
      worker: workers[worker]?.id ?? '',
      subtask: phrases[KINDS[kind] ?? 'solve'],
      sees: view === 0 ? [] : Array.from({ length: index }, (_, earlier) => earlier),
    };
  });
  return { steps };
}

/** Takes a gradient step in the tables that determined the plan. */
function reinforce(
  tables: Tables,
  before: readonly (readonly number[])[],
  choices: readonly number[],
  advantage: number,
): void {
  const used = 1 + SLOTS * ((choices[0] ?? 0) + 1);
  for (const [place, logits] of tables.slice(0, used).entries()) {
    for (const index of logits.keys()) {
      const share = before[place]?.[index] ?? 0;
      logits[index] =
        (logits[index] ?? 0) + LEARNING_RATE * advantage * ((index === choices[place] ? 1 : 0) - share);
    }
  }
}

const SEEDS = 8;

function describeBaselines(world: World): string[] {
  const optimum = findOptimum(world);
  const constant = bestConstant(world);
  const line = (name: string, chance: number): string =>
    `${name.padEnd(44)} ${(toReward(chance) / optimum.reward).toFixed(3)}   ${chance.toFixed(3)}`;
  return [
    `The ${world.name} world; ratio of the best plans' reward, and accuracy:`,
    line('best plans', optimum.chance),
    line(`best constant plan (${describePlan(world, constant.plan)})`, constant.chance),
    line('best worker of each topic, alone', bestRouter(optimum)),
    line('best worker, asked everything', optimum.bestWorker),
    line('a plan drawn evenly', optimum.random),
    line('nothing right, but all of it plans', 0),
    ...Array.from({ length: SEEDS }, (_, seed) =>
      line(`table for each topic, by rewards, seed ${seed}`, learnTables(world, seed)),
    ),
    ...['decoy', 'blind'].map((name) => {
      const shares = world.topics.map((topic) => {
        const share = shareNearBest(world, topic, priorNamed(name), optimum);
        return `${topic.name} ${(100 * share).toFixed(2)} %`;
      });
      return `plans of the ${name} prior within 3 % of the best: ${shares.join(', ')}`;
    }),
  ];
}

function describePlan({ phrases }: World, { steps }: Plan): string {
  const kindOf = (subtask: string): string => KINDS.find((kind) => phrases[kind] === subtask) ?? subtask;
  return steps
    .map(({ worker, subtask, sees }) => `${worker}: ${kindOf(subtask)}${sees.length > 0 ? '*' : ''}`)
    .join(', ');
}

if (require.main === module) {
  for (const line of describeBaselines(WHOLE_WORLD)) console.log(line);
}

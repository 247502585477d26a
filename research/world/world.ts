import type { Rates } from '../../src/protocol/cards';
import { draw } from '../../src/testing/simulated-model';
import type { Split } from './questions';

/** Kinds of subtasks. */
export type Kind = 'plan' | 'solve' | 'verify' | 'refine';

/** Topics of questions. */
export type TopicName = 'trivia' | 'algebra' | 'law' | 'code';

/** A chance for each topic. */
export type ByTopic = Readonly<Record<TopicName, number>>;

/** Properties of a topic, whoever works on it. */
export interface Topic {
  readonly name: TopicName;
  /** Words that identify the topic; each question contains exactly one. */
  readonly nouns: readonly string[];
  /** Share of its failures that a solver avoids by seeing a sound plan. */
  readonly lift: number;
  /** Chance that a right answer is spoiled by a check, for a worker of `checkSpoils` 1. */
  readonly verifySpoils: number;
  /** Chance that a right answer is spoiled by a refinement. */
  readonly refineSpoils: number;
  /** Plan that an untrained policy mostly writes: it looks sensible and is not. */
  readonly decoy: { readonly worker: string; readonly shape: readonly Kind[] };
}

/** A simulated worker, and how often its work is good. */
export interface WorldWorker {
  readonly id: string;
  /** Strength of the worker, in one word. */
  readonly specialty: string;
  /** Chance that its plan is sound. */
  readonly plan: ByTopic;
  /** Chance that it solves a question without help. */
  readonly solve: ByTopic;
  /** Chance that its check mends a wrong answer. */
  readonly verify: ByTopic;
  /** Chance that its refinement mends a wrong answer. */
  readonly refine: ByTopic;
  /** How often its checks spoil a right answer, as a factor on the topic's own chance. */
  readonly checkSpoils: number;
  readonly price: Rates;
}

/** A world of questions and workers in which the best plans are teams that differ from topic to topic. */
export interface World {
  readonly name: 'small' | 'middle' | 'whole';
  readonly topics: readonly Topic[];
  readonly workers: readonly WorldWorker[];
  readonly maxSteps: number;
  /** Words of an untrained policy for a subtask of each kind. */
  readonly phrases: Readonly<Record<Kind, string>>;
}

/** Keeps only some of a world's workers, in the order given. */
export function withWorkers(world: World, ids: readonly string[]): World {
  return { ...world, workers: ids.map((id) => workerOf(world, id)) };
}

/** @throws RangeError if the world has no such worker */
export function workerOf({ name, workers }: World, id: string): WorldWorker {
  const worker = workers.find((one) => one.id === id);
  if (worker) return worker;
  const known = workers.map((one) => one.id).join(', ');
  throw new RangeError(`The ${name} world has no worker "${id}"; it has ${known}.`);
}

/** @throws RangeError if the world has no such topic */
export function topicOf({ name, topics }: World, topic: string): Topic {
  const found = topics.find((one) => one.name === topic);
  if (found) return found;
  const known = topics.map((one) => one.name).join(', ');
  throw new RangeError(`The ${name} world has no topic "${topic}"; it has ${known}.`);
}

/** Random numbers in [0, 1); the same sequence for the same key. */
export interface Dice {
  roll(): number;
  /** Returns one of several items, each with the same chance. */
  pick<T>(items: readonly T[]): T;
  /** Returns true with this chance. */
  happens(chance: number): boolean;
}

/** Returns independent dice: rolls of other dice do not affect them. */
export function diceFor(...key: readonly (string | number)[]): Dice {
  let rolled = 0;
  const roll = (): number => draw(...key, (rolled += 1));
  return {
    roll,
    pick: (items) => {
      const item = items[Math.floor(roll() * items.length)];
      if (item === undefined) throw new RangeError('There is nothing to pick from; give at least one item.');
      return item;
    },
    happens: (chance) => roll() < chance,
  };
}

const TOPICS: readonly Topic[] = [
  {
    name: 'trivia',
    nouns: ['film', 'river', 'singer', 'planet', 'castle', 'poet', 'island', 'mountain'],
    lift: 0,
    verifySpoils: 0.2,
    refineSpoils: 0.2,
    decoy: { worker: 'critic', shape: ['solve', 'verify'] },
  },
  {
    name: 'algebra',
    nouns: ['equation', 'matrix', 'factor', 'vector', 'fraction', 'triangle', 'integral', 'theorem'],
    lift: 0.1,
    verifySpoils: 0.02,
    refineSpoils: 0.08,
    decoy: { worker: 'coder', shape: ['plan', 'solve'] },
  },
  {
    name: 'law',
    nouns: ['lease', 'contract', 'tenant', 'court', 'treaty', 'patent', 'verdict', 'statute'],
    lift: 0.1,
    verifySpoils: 0.1,
    refineSpoils: 0.02,
    decoy: { worker: 'maths', shape: ['plan', 'solve', 'verify'] },
  },
  {
    name: 'code',
    nouns: ['loop', 'array', 'parser', 'thread', 'cache', 'string', 'compiler', 'pointer'],
    lift: 0.5,
    verifySpoils: 0.02,
    refineSpoils: 0.08,
    decoy: { worker: 'quick', shape: ['solve', 'refine'] },
  },
];

const WORKERS: readonly WorldWorker[] = [
  {
    id: 'quick',
    specialty: 'facts',
    plan: chances(0.4, 0.4, 0.4, 0.4),
    solve: chances(0.95, 0.25, 0.3, 0.1),
    verify: chances(0.05, 0.2, 0.1, 0.1),
    refine: chances(0.1, 0.1, 0.25, 0.1),
    checkSpoils: 2,
    price: { input: 0.1, output: 0.4 },
  },
  {
    id: 'writer',
    specialty: 'writing',
    plan: chances(0.7, 0.7, 0.7, 0.92),
    solve: chances(0.7, 0.2, 0.35, 0.15),
    verify: chances(0.1, 0.3, 0.2, 0.2),
    refine: chances(0.1, 0.15, 0.8, 0.15),
    checkSpoils: 1.5,
    price: { input: 1, output: 4 },
  },
  {
    id: 'maths',
    specialty: 'algebra',
    plan: chances(0.5, 0.6, 0.4, 0.6),
    solve: chances(0.65, 0.6, 0.25, 0.2),
    verify: chances(0.1, 0.4, 0.1, 0.2),
    refine: chances(0.1, 0.2, 0.3, 0.15),
    checkSpoils: 2,
    price: { input: 1, output: 4 },
  },
  {
    id: 'coder',
    specialty: 'code',
    plan: chances(0.4, 0.5, 0.4, 0.65),
    solve: chances(0.6, 0.3, 0.2, 0.5),
    verify: chances(0.1, 0.3, 0.1, 0.25),
    refine: chances(0.1, 0.1, 0.25, 0.2),
    checkSpoils: 2,
    price: { input: 1, output: 4 },
  },
  {
    id: 'critic',
    specialty: 'checking',
    plan: chances(0.5, 0.5, 0.6, 0.6),
    solve: chances(0.7, 0.25, 0.5, 0.15),
    verify: chances(0.2, 0.7, 0.3, 0.5),
    refine: chances(0.1, 0.2, 0.45, 0.2),
    checkSpoils: 1,
    price: { input: 2, output: 8 },
  },
];

/** One for each kind: a choice between synonyms would only add noise to the learning. */
const PHRASES: Readonly<Record<Kind, string>> = {
  plan: 'Plan the steps to take.',
  solve: 'Solve the question.',
  verify: 'Check the earlier answer.',
  refine: 'Refine the earlier answer.',
};

/**
 * Four topics, five workers, up to three steps. The best plans are: for trivia the quick worker alone; for algebra a
 * solver and a check; for law a solver and a refinement; for code a plan, a solver and a check, each by another
 * worker. No worker alone comes near them.
 */
export const WHOLE_WORLD: World = {
  name: 'whole',
  topics: TOPICS,
  workers: WORKERS,
  maxSteps: 3,
  phrases: PHRASES,
};

function chances(trivia: number, algebra: number, law: number, code: number): ByTopic {
  return { trivia, algebra, law, code };
}

const LAW: Topic = {
  ...topicOf(WHOLE_WORLD, 'law'),
  decoy: { worker: 'maths', shape: ['plan', 'solve'] },
};

/**
 * All topics and workers, with plans of at most two steps, so that a policy soon learns to plan and mainly has to
 * find out which workers are there.
 */
export const MIDDLE_WORLD: World = {
  ...WHOLE_WORLD,
  name: 'middle',
  topics: WHOLE_WORLD.topics.map((topic) => (topic.name === LAW.name ? LAW : topic)),
  maxSteps: 2,
};

/** Worker that no policy was trained with. It solves two topics better than anyone else. */
export const NEWCOMER: WorldWorker = {
  id: 'newcomer',
  specialty: 'law and code',
  plan: chances(0.5, 0.5, 0.5, 0.5),
  solve: chances(0.5, 0.2, 0.7, 0.65),
  verify: chances(0.1, 0.2, 0.1, 0.2),
  refine: chances(0.1, 0.1, 0.25, 0.1),
  checkSpoils: 2,
  price: { input: 1, output: 4 },
};

const TRIVIA: Topic = {
  ...topicOf(WHOLE_WORLD, 'trivia'),
  decoy: { worker: 'critic', shape: ['solve', 'verify'] },
};
const ALGEBRA: Topic = {
  ...topicOf(WHOLE_WORLD, 'algebra'),
  decoy: { worker: 'quick', shape: ['plan', 'solve'] },
};

/** The smallest part of the whole world in which two topics still need different teams: learned in a minute or two. */
export const SMALL_WORLD: World = {
  ...withWorkers(WHOLE_WORLD, ['quick', 'maths', 'critic']),
  name: 'small',
  topics: [TRIVIA, ALGEBRA],
  maxSteps: 2,
};

/**
 * Returns worlds with some of the workers, each with its own optimum: `train` for learning, `heldOut` for testing,
 * about a fourth of all. The team of all workers is never held out.
 *
 * @param least minimum number of workers in a team
 */
export function teamsOf(world: World, split: Split, least: number): World[] {
  return subsetsOf(world.workers.map(({ id }) => id))
    .filter(({ length }) => length >= least)
    .filter((ids, index) => isHeldOut(world, ids, index) === (split === 'heldOut'))
    .map((ids) => withWorkers(world, ids));
}

/** Draws one of the teams, its workers in random order, so that no ordinal always means the same worker. */
export function drawTeam(teams: readonly World[], dice: Dice): World {
  const team = dice.pick(teams);
  const keyed = team.workers.map(({ id }) => ({ id, key: dice.roll() }));
  return withWorkers(
    team,
    keyed.sort((a, b) => a.key - b.key).map(({ id }) => id),
  );
}

function isHeldOut({ workers }: World, { length }: readonly string[], index: number): boolean {
  return index % 4 === 1 && length < workers.length;
}

function subsetsOf(ids: readonly string[]): string[][] {
  const [first, ...others] = ids;
  if (first === undefined) return [[]];
  const rest = subsetsOf(others);
  return [...rest, ...rest.map((subset) => [first, ...subset])];
}

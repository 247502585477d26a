import { questionsOf, withHelp, WORKERS } from '../../examples/evaluate/world';
import { questionSetKey } from '../../src/evaluation/definitions';
import type { MethodRecord } from '../../src/evaluation/results';
import { meanOf } from '../../src/statistics/statistics';
import { keepLines } from '../../src/store/records';
import { tries } from '../support/thorough';
import { CALL_NANO_USD, openEvaluation } from './open-evaluation';

// Wrong answers of these topics all differ, so that the score of a vote can be calculated by hand.
const QUESTIONS = questionsOf(tries(120)).filter(({ topic }) => topic !== 'capitals');
/** Seeds, each with questions of its own. */
const SEEDS = [1, 2] as const;

type Topic = 'sums' | 'letters';

const skill = (worker: string, topic: string): number => WORKERS[worker]?.[topic as Topic] ?? NaN;

/** Probability that any check of this file fails although the methods are right. */
const FALSE_ALARMS = 0.001;

/**
 * Returns the probability that chance alone leads at least as far away as this, on the same side, if each question has
 * its own chance of a right answer. It is exact, because the normal approximation fails so far out.
 */
function tailOf(correct: number, chances: readonly number[]): number {
  let odds = [1];
  for (const chance of chances) {
    odds = [...odds, 0].map((same, count) => same * (1 - chance) + (odds[count - 1] ?? 0) * chance);
  }
  const sum = (part: readonly number[]): number => part.reduce((total, each) => total + each, 0);
  return Math.min(sum(odds.slice(0, correct + 1)), sum(odds.slice(correct)));
}

/** Returns a worker's chance to be right if one of the answers that it sees is right with a chance of `shown`. */
const after = (shown: number, own: number): number => shown * withHelp(own) + (1 - shown) * own;
/** Returns the chance that at least one is right. */
const anyOf = (...chances: readonly number[]): number =>
  1 - chances.reduce((none, each) => none * (1 - each), 1);

/** Returns the Conductor's chance: it has the best worker answer, the second check, and the best decide. */
function conductor(topic: Topic): number {
  const [best = 0, second = 0] = Object.keys(WORKERS)
    .map((worker) => skill(worker, topic))
    .sort((one, other) => other - one);
  return after(anyOf(best, second), best);
}

/** Returns the chance that at least two of four votes are right, or only the first: wrong votes never agree. */
function vote(right: number): number {
  const wrong = 1 - right;
  return 1 - wrong ** 4 - 4 * right * wrong ** 3 + right * wrong ** 3;
}

/** Returns the chance of the last of five attempts, which sees the four before it. */
function reflection(right: number): number {
  return after(anyOf(right, right, right, right), right);
}

function mixture(topic: Topic): number {
  const skills = Object.keys(WORKERS).map((worker) => skill(worker, topic));
  return meanOf(skills.map((own) => after(anyOf(...skills), own))) ?? NaN;
}

const ON_PAPER: Readonly<Record<string, (topic: Topic) => number>> = {
  conductor,
  'worker:scholar': (topic) => skill('scholar', topic),
  'worker:coder': (topic) => skill('coder', topic),
  'worker:clerk': (topic) => skill('clerk', topic),
  'vote:clerk': (topic) => vote(skill('clerk', topic)),
  // A plan and three steps: three attempts, and a call that chooses.
  'best-of:clerk': (topic) => {
    const own = skill('clerk', topic);
    return after(anyOf(own, own, own), own);
  },
  'reflection:clerk': (topic) => reflection(skill('clerk', topic)),
  mixture,
  generic: conductor,
  silent: (topic) => Math.max(...Object.keys(WORKERS).map((worker) => skill(worker, topic))),
};

/** Number of checks: one for each side of each method's score. */
const JUDGEMENTS = 2 * Object.keys(ON_PAPER).length;

function expectChance(method: string, records: readonly MethodRecord[], chances: readonly number[]): void {
  const verdicts = records.filter((record) => record.method === method).map(({ verdict }) => verdict);
  expect(verdicts).toHaveLength(chances.length);
  expect(verdicts).not.toContain('ungraded');
  const correct = verdicts.filter((verdict) => verdict === 'correct').length;
  const tail = tailOf(correct, chances);
  const isChance = tail > FALSE_ALARMS / JUDGEMENTS;
  const found = { method, correct, paper: meanOf(chances), tail };
  expect({ ...found, isChance }).toEqual({ ...found, isChance: true });
}

test('scores match the simulated skills, and methods of equal cost differ by at most one call', async () => {
  const stage = await openEvaluation(QUESTIONS);
  try {
    const records: MethodRecord[] = [];
    const each = QUESTIONS.length / SEEDS.length;
    for (const [place, seed] of SEEDS.entries()) {
      const questions = QUESTIONS.slice(place * each, (place + 1) * each);
      const { key: set } = await keepLines(stage.store, questions, questionSetKey);
      const changes = { window: 8, seed, set, questions: each };
      const input = await stage.inputOf(`eval-skills-${seed}`, Object.keys(ON_PAPER), changes);
      await stage.whileWorking(() => stage.run(input));
      records.push(...(await stage.results(input.id)));
    }
    for (const [method, paper] of Object.entries(ON_PAPER)) {
      expectChance(
        method,
        records,
        QUESTIONS.map(({ topic }) => paper(topic as Topic)),
      );
    }
    const costOf = (name: string): number =>
      meanOf(records.flatMap(({ method, spent }) => (method === name ? (spent.nanoUsd ?? NaN) : []))) ?? NaN;
    for (const method of ['best-of:clerk', 'vote:clerk']) {
      expect(Math.abs(costOf(method) - costOf('conductor'))).toBeLessThanOrEqual(CALL_NANO_USD);
    }
  } finally {
    await stage.close();
  }
}, 1_800_000);

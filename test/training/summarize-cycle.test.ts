import {
  cycleMetricsSchema,
  type GroupRecord,
  type Rollout,
  type TopicMetrics,
} from '../../src/training/definitions';
import {
  COLLAPSE_CYCLES,
  type CyclePart,
  cycleTimes,
  findCollapse,
  type Span,
  summarizeCycle,
} from '../../src/training/summarize-cycle';
import { madeUpCycles } from '../report/made-up-cycles';
import { step } from '../support/step';
import { aGroup, aRollout } from '../cli/train/show/a-group';

const right = aRollout(0, {
  plan: { steps: [step('a', ''), step('b', '', [0])] },
  usage: { calls: 2, inputTokens: 100, outputTokens: 20 },
  nanoUsd: 3_000_000,
});
const alone = { steps: [step('a', '')] };
const wrong: Rollout = { ...right, plan: alone, verdict: 'wrong', reward: 0.5, nanoUsd: 1_000_000 };
const unreadable: Rollout = {
  ...right,
  plan: null,
  tokens: 10,
  verdict: 'unparseable',
  reward: 0,
  nanoUsd: 0,
  usage: { calls: 0, inputTokens: 0, outputTokens: 0 },
};
const lost: Rollout = { ...wrong, verdict: 'ungraded', reward: null };

const group = (draw: number, rollouts: readonly Rollout[], round = 0): GroupRecord =>
  aGroup(rollouts, { draw, round, workers: ['a', 'b'] });

test('summarizes a cycle in figures', () => {
  const summary = summarizeCycle([group(0, [right, wrong]), group(1, [unreadable, lost])]);
  expect(summary).toEqual({
    rewardMean: 0.5,
    rewardSpread: expect.closeTo(Math.sqrt(0.5 / 3), 12) as number,
    formatRate: 0.75,
    verdicts: { correct: 1, wrong: 1, unparseable: 1, ungraded: 1 },
    draws: 2,
    planLength: expect.closeTo(4 / 3, 12) as number,
    planEntropy: expect.closeTo(Math.log(2) / 2, 12) as number,
    workerShares: { a: 0.75, b: 0.25 },
    topologyShares: {
      chain: expect.closeTo(1 / 3, 12) as number,
      single: expect.closeTo(2 / 3, 12) as number,
    },
    topics: { '': { plans: 3, shapes: { '[[],[0]]': 1, '[[]]': 2 }, graded: 3, right: 1 } },
    failureShares: { format: 0.5, unsolved: 0.5 },
    workerTokens: 90,
    planTokens: 32.5,
    usd: expect.closeTo(0.00125, 12) as number,
  });
});

test('the entropy of plans is that of workers and graphs, per question', () => {
  const by = (worker: string, subtask = ''): Rollout => ({
    ...right,
    plan: { steps: [step(worker, subtask)] },
  });
  const entropyOf = (...groups: GroupRecord[]): number => summarizeCycle(groups).planEntropy;
  expect(entropyOf(group(0, [by('a'), by('a', 'Say it.')]), group(1, [by('b'), by('b')]))).toBe(0);
  expect(entropyOf(group(0, [by('a'), by('b'), right]))).toBeCloseTo(Math.log(3), 12);
  expect(entropyOf(group(0, [right]), group(0, [by('a'), by('b')], 1))).toBe(0);
});

test('two rounds of one draw count as one draw, and an accepted answer has no shape', () => {
  const accepted: Rollout = { ...right, plan: { steps: [] } };
  const summary = summarizeCycle([group(0, [right]), group(0, [accepted], 1)]);
  expect(summary).toMatchObject({ draws: 1, planLength: 1, topologyShares: { chain: 1 }, formatRate: 1 });
});

test('counts first plans topic by topic', () => {
  const law = { ...group(0, [right, right]), topic: 'law' };
  const { topics } = summarizeCycle([
    law,
    { ...law, draw: 1, rollouts: [wrong] },
    { ...law, round: 1 },
    group(2, [wrong]),
  ]);
  expect(topics).toEqual({
    law: { plans: 3, shapes: { '[[],[0]]': 2, '[[]]': 1 }, graded: 3, right: 2 },
    '': { plans: 1, shapes: { '[[]]': 1 }, graded: 1, right: 0 },
  });
});

test('distinguishes reviews that spoilt a right answer from those that left a wrong one', () => {
  const reviews = [
    { ...wrong, root: 0 },
    { ...wrong, index: 1, root: 1 },
  ];
  const first = group(0, [right, { ...wrong, index: 1, root: 1, verdict: 'correct' }]);
  expect(summarizeCycle([first, group(0, reviews, 1)]).failureShares).toEqual({ spoilt: 1 });
  const byAnother = { ...wrong, plan: { steps: [step('b', '')] } };
  const vain = [group(0, [wrong]), group(1, [right]), group(0, [byAnother], 1)];
  expect(summarizeCycle(vain).failureShares).toEqual({ unsolved: 0.5, 'vain review': 0.5 });
});

test('one unknown cost makes the mean unknown; a cycle without groups is all zeros', () => {
  expect(summarizeCycle([group(0, [right, { ...wrong, nanoUsd: null }])]).usd).toBeNull();
  const figures = Object.values(summarizeCycle([])).flatMap((figure): unknown[] =>
    typeof figure === 'number' || figure === null ? [figure] : Object.values(figure),
  );
  expect(new Set(figures)).toEqual(new Set([0]));
});

test('a cycle that taught nothing, and so made no weights, can be read back', () => {
  const [line] = madeUpCycles(1, { weightsSha256: null, update: null });
  expect(cycleMetricsSchema.parse(JSON.parse(JSON.stringify(line)))).toEqual(line);
});

const CHAIN = '[[],[0]]';
const SINGLE = '[[]]';
const varied: TopicMetrics = { plans: 32, shapes: { [CHAIN]: 20, [SINGLE]: 12 }, graded: 32, right: 12 };
const stuck: TopicMetrics = { plans: 32, shapes: { [CHAIN]: 32 }, graded: 32, right: 20 };
const settled: TopicMetrics = { ...stuck, right: 29 };

function collapseOf(
  topics: Record<string, TopicMetrics>,
  entropy = 0.3,
  count = COLLAPSE_CYCLES,
  largestAdvantage = 1.5,
) {
  const cycles = madeUpCycles(count);
  const change = { entropy, largestAdvantage };
  return findCollapse(
    cycles.map((cycle) => ({ ...cycle, topics, update: cycle.update && { ...cycle.update, ...change } })),
  );
}

test('reports a topic whose plans all have one shape although many of its answers are wrong', () => {
  expect(collapseOf({ law: stuck, code: varied, trivia: settled })).toBe(
    'since cycle 1 nearly all plans have the same shape, and hardly any other is tried, for law (38 % of the answers are wrong)',
  );
  expect(collapseOf({ '': stuck })).toContain('for questions without a topic (38 %');
});

test('reports plans that no longer differ while answers are wrong, even if shapes differ by topic', () => {
  expect(collapseOf({ law: varied }, 0.001)).toContain('entropy of plans has been below 0.005');
  expect(collapseOf({ law: { ...varied, right: 30 } }, 0.001)).toBeNull();
});

test.each([0.3, 0.001])(
  'names a single reply with too much weight as a cause, with entropy %j',
  (entropy) => {
    const topics = { law: { ...stuck, shapes: entropy < 0.1 ? varied.shapes : stuck.shapes } };
    const told = collapseOf(topics, entropy, COLLAPSE_CYCLES, 5.48);
    expect(told).toMatch(/; a reply with an advantage of ±5\.5 .* training\.reward\.maxAdvantage$/);
    expect(told?.split('; ')[0]).toBe(collapseOf(topics, entropy));
    expect(collapseOf({ trivia: settled }, 0.3, COLLAPSE_CYCLES, 5.48)).toBeNull();
  },
);

test.each<[string, Record<string, TopicMetrics>, number]>([
  ['one shape that is good, and several', { trivia: settled, code: varied }, COLLAPSE_CYCLES],
  ['one shape that nobody could judge', { law: { ...stuck, graded: 0, right: 0 } }, COLLAPSE_CYCLES],
  ['a few plans', { law: { ...stuck, plans: 7, shapes: { [CHAIN]: 7 } } }, COLLAPSE_CYCLES],
  ['a few cycles', { law: stuck }, COLLAPSE_CYCLES - 1],
])('reports no collapse for %s', (_, topics, count) => {
  expect(collapseOf(topics, 0.3, count)).toBeNull();
});

const span = (part: CyclePart, from: number, to: number): Span<CyclePart> => ({ part, from, to });

it('counts overlapping spans once, and uncovered time as idle', () => {
  const spans = [
    // Two overlapping groups, the second one later.
    span('sampling', 10, 30),
    span('rollouts', 30, 80),
    span('grading', 80, 85),
    span('sampling', 12, 40),
    span('rollouts', 40, 90),
    span('grading', 90, 92),
    // A gap until the batch is written.
    span('update', 100, 130),
    span('publish', 130, 140),
  ];
  expect(cycleTimes(spans, 0, 160)).toEqual({
    sampling: 30,
    rollouts: 60,
    grading: 7,
    update: 30,
    publish: 10,
    between: 160 - (92 - 10) - (140 - 100),
    whole: 160,
  });
});

it('does not count work done ahead in the previous cycle as idle time', () => {
  const spans = [span('sampling', 10, 30), span('rollouts', 30, 110), span('update', 120, 150)];
  const parts = { sampling: 20, rollouts: 80, between: 60 - 10 - 30, whole: 60 };
  expect(cycleTimes(spans, 100, 160)).toMatchObject(parts);
  expect(cycleTimes([], 0, 5)).toMatchObject({ sampling: 0, update: 0, between: 5, whole: 5 });
});

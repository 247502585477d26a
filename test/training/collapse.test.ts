import { COLLAPSE_CYCLES, findCollapse } from '../../src/training/summarize-cycle';
import type { TopicMetrics } from '../../src/training/records';
import { madeUpCycles } from './cli/plot/made-up-cycles';

const CHAIN = '[[],[0]]';
const SINGLE = '[[]]';
const varied: TopicMetrics = { plans: 32, shapes: { [CHAIN]: 20, [SINGLE]: 12 }, graded: 32, right: 12 };
const stuck: TopicMetrics = { plans: 32, shapes: { [CHAIN]: 32 }, graded: 32, right: 20 };
const settled: TopicMetrics = { ...stuck, right: 29 };

function collapseOf(
  topics: Record<string, TopicMetrics>,
  entropy = 0.3,
  count = COLLAPSE_CYCLES,
): string | null {
  return findCollapse(
    madeUpCycles(count).map((cycle) => ({
      ...cycle,
      topics,
      update: cycle.update && { ...cycle.update, entropy },
    })),
  );
}

test('a topic whose plans have all one shape, though many of its answers are wrong, is told of', () => {
  expect(collapseOf({ law: stuck, code: varied, trivia: settled })).toBe(
    'since cycle 1 nearly all plans have one shape, and hardly another is tried, for law (38 % of the answers are wrong)',
  );
  expect(collapseOf({ '': stuck })).toContain('for questions without a topic (38 %');
});

test('settling on one shape that is good is no collapse, nor is trying several', () => {
  expect(collapseOf({ trivia: settled, code: varied })).toBeNull();
  expect(collapseOf({ law: { ...stuck, graded: 0, right: 0 } })).toBeNull();
});

test('a few plans, or a few cycles, tell nothing', () => {
  expect(collapseOf({ law: { ...stuck, plans: 7, shapes: { [CHAIN]: 7 } } })).toBeNull();
  expect(collapseOf({ law: stuck }, 0.3, COLLAPSE_CYCLES - 1)).toBeNull();
});

test('plans that no longer differ are told of where answers are wrong, though shapes differ by topic', () => {
  expect(collapseOf({ law: varied }, 0.001)).toContain('entropy of plans has been below 0.005');
  expect(collapseOf({ law: { ...varied, right: 30 } }, 0.001)).toBeNull();
});

import type { ImitationSettings } from '../../src/training/config/schema';
import type { TrainingExample } from '../../src/training/definitions';
import { bestRight, drawExamples, imitationSteps } from '../../src/training/imitation';

const SETTINGS = {
  cycles: 2,
  steps: 10,
  batch: 20,
  learningRate: 1e-3,
  warmupSteps: 0,
  warmStartShare: 0.25,
};

/** Returns right plans of one question, named after it. */
const plansFor = (topic: string, question: string, count: number) => ({
  topic,
  prompt: question,
  completions: Array.from({ length: count }, (_, index) => `${question}, plan ${index}`),
});

const promptOf = (example: TrainingExample): string => ('prompt' in example ? example.prompt : '');

test('the first cycles of a run imitate, and later ones at the configured interval', () => {
  const stepsIn = (imitation?: ImitationSettings) =>
    [1, 2, 3, 4, 5, 6, 7, 8].map((cycle) => imitationSteps(imitation, cycle));
  expect(stepsIn()).toEqual([0, 0, 0, 0, 0, 0, 0, 0]);
  expect(stepsIn(SETTINGS)).toEqual([10, 10, 0, 0, 0, 0, 0, 0]);
  expect(stepsIn({ ...SETTINGS, again: { every: 3, steps: 50 } })).toEqual([10, 10, 0, 0, 50, 0, 0, 50]);
});

test('imitates only the right plans that earned most', () => {
  const rollouts = [
    { verdict: 'correct', reward: 0.8 },
    { verdict: 'correct', reward: 0.9 },
    { verdict: 'wrong', reward: 0.5 },
    { verdict: 'correct', reward: 0.9 },
  ] as const;
  expect(bestRight(rollouts)).toEqual([rollouts[1], rollouts[3]]);
  expect(bestRight([rollouts[2]])).toEqual([]);
});

test('imitates topics equally, however many right plans they have, without overweighting a lucky plan', () => {
  const own = (topic: string, questions: number, plans: number) =>
    Array.from({ length: questions }, (_, index) => plansFor(topic, `${topic} ${index}`, plans));
  const examples = drawExamples(
    [...own('easy', 200, 9), ...own('hard', 20, 1), ...own('lucky', 1, 1)],
    [],
    { ...SETTINGS, steps: 100, batch: 41, warmStartShare: 0 },
    1,
    1,
  );
  expect(examples).toHaveLength(4100);
  const shareOf = (topic: string): number =>
    examples.filter((each) => promptOf(each).startsWith(topic)).length;
  for (const topic of ['easy', 'hard']) {
    expect(shareOf(topic)).toBeGreaterThan(1850);
    expect(shareOf(topic)).toBeLessThan(2150);
  }
  expect(shareOf('lucky')).toBeGreaterThan(50);
  expect(shareOf('lucky')).toBeLessThan(160);
});

test('a share of the examples comes from the warm start, and each keeps its prompt', () => {
  const warm = [{ prompt: 'warm', completion: 'any plan' }];
  const examples = drawExamples([plansFor('t', 'q', 3)], warm, SETTINGS, 1, 1);
  expect(examples).toHaveLength(200);
  expect(examples.filter((each) => promptOf(each) === 'warm')).toHaveLength(50);
  const own = examples.filter((each) => promptOf(each) !== 'warm');
  expect(own.every((each) => each.completion.startsWith(`${promptOf(each)}, `))).toBe(true);
});

test('later cycles draw as many examples as their steps need, from the latest right plans only', () => {
  const own = [plansFor('t', 'old', 1), ...Array.from({ length: 4000 }, () => plansFor('t', 'new', 1))];
  const imitation = { ...SETTINGS, again: { every: 3, steps: 50 } };
  const examples = drawExamples(own, [], imitation, 1, 5);
  expect(examples).toHaveLength(1000);
  expect(new Set(examples.map(promptOf))).toEqual(new Set(['new']));
});

test('a cycle always draws the same examples, and another cycle draws others', () => {
  const own = [plansFor('t', 'q', 9)];
  const draw = (cycle: number) => drawExamples(own, [], { ...SETTINGS, warmStartShare: 0 }, 1, cycle);
  expect(draw(1)).toEqual(draw(1));
  expect(draw(1)).not.toEqual(draw(2));
});

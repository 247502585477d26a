import { drawExamples, isImitating } from '../../src/training/imitation';

const SETTINGS = {
  cycles: 2,
  steps: 10,
  batch: 20,
  learningRate: 1e-3,
  warmupSteps: 0,
  warmStartShare: 0.25,
};

/** Right plans of one question, named after it. */
const plansFor = (topic: string, question: string, count: number) => ({
  topic,
  prompt: question,
  completions: Array.from({ length: count }, (_, index) => `${question}, plan ${index}`),
});

test('the first cycles of a run imitate, and without the setting none does', () => {
  expect([1, 2, 3].map((cycle) => isImitating(SETTINGS, cycle))).toEqual([true, true, false]);
  expect(isImitating(undefined, 1)).toBe(false);
});

test('a rare topic is imitated as often as one with a hundred right plans', () => {
  const easy = Array.from({ length: 20 }, (_, index) => plansFor('easy', `easy ${index}`, 5));
  const own = [...easy, plansFor('rare', 'rare 0', 1)];
  const examples = drawExamples(own, [], { ...SETTINGS, warmStartShare: 0 }, 1);
  expect(examples).toHaveLength(200);
  const rare = examples.filter(({ prompt }) => prompt === 'rare 0').length;
  expect(rare).toBeGreaterThan(70);
  expect(rare).toBeLessThan(130);
  expect(new Set(examples.map(({ completion }) => completion)).size).toBeGreaterThan(50);
});

test('a share of the examples is the warm start’s, and each stays with its prompt', () => {
  const warm = [{ prompt: 'warm', completion: 'any plan' }];
  const examples = drawExamples([plansFor('t', 'q', 3)], warm, SETTINGS, 1);
  expect(examples).toHaveLength(200);
  expect(examples.filter(({ prompt }) => prompt === 'warm')).toHaveLength(50);
  const own = examples.filter(({ prompt }) => prompt !== 'warm');
  expect(own.every(({ prompt, completion }) => completion.startsWith(`${prompt}, `))).toBe(true);
});

test('a draw depends on its name alone', () => {
  const own = [plansFor('t', 'q', 9)];
  const draw = (cycle: number) => drawExamples(own, [], { ...SETTINGS, warmStartShare: 0 }, 1, cycle);
  expect(draw(1)).toEqual(draw(1));
  expect(draw(1)).not.toEqual(draw(2));
});

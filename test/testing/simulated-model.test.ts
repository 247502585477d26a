import type { Answer, SimulatedRequest } from '../../src/testing';
import { SimulatedModel } from '../../src/testing/simulated-model';

const FAULTS: readonly Answer[] = [{ fault: 'server-error' }, { fault: 'hang' }];

function request(text: string): SimulatedRequest {
  return {
    sequence: 1,
    protocol: 'anthropic',
    model: 'model',
    messages: [{ role: 'user', text }],
    text,
    maxOutputTokens: null,
  };
}

const PROMPTS = Array.from({ length: 400 }, (_, index) => `Question ${index}`);

function answersOf(seed: number, prompts: readonly string[]): Map<string, Answer> {
  const model = new SimulatedModel({ faultRate: 0.25, faults: [...FAULTS], answer: 'fine' }, seed);
  return new Map(prompts.map((prompt) => [prompt, model.next(request(prompt))]));
}

test('a script comes first, in order, then the standing answer', () => {
  const model = new SimulatedModel({ script: ['one'], answer: 'standing' }, 0);
  model.script(['two', { fault: 'hang' }]);
  const answers = Array.from({ length: 4 }, () => model.next(request('Why?')));
  expect(answers).toEqual(['one', 'two', { fault: 'hang' }, 'standing']);
});

test('a plain answer differs between prompts, and is the same for the same prompt', () => {
  const model = new SimulatedModel({}, 0);
  expect(model.next(request('a'))).toBe(model.next(request('a')));
  expect(model.next(request('a'))).not.toBe(model.next(request('b')));
});

test('faults come at their rate, each kind, and another seed picks other requests', () => {
  const answers = answersOf(7, PROMPTS);
  const faults = [...answers.values()].filter((answer) => answer !== 'fine');
  // 400 draws at 0.25: five standard deviations are 43.
  expect(Math.abs(faults.length - 100)).toBeLessThan(43);
  expect(new Set(faults)).toEqual(new Set(FAULTS));
  expect(answersOf(8, PROMPTS)).not.toEqual(answers);
});

test('which request meets a fault does not depend on the order of arrival', () => {
  const backwards = answersOf(7, PROMPTS.toReversed());
  const forwards = answersOf(7, PROMPTS);
  for (const prompt of PROMPTS) expect(backwards.get(prompt)).toBe(forwards.get(prompt));
});

test('a retry of the same prompt is drawn anew', () => {
  const model = new SimulatedModel({ faultRate: 0.5, faults: [{ fault: 'hang' }], answer: 'fine' }, 0);
  const answers = Array.from({ length: 50 }, () => model.next(request('Why?')));
  expect(new Set(answers)).toEqual(new Set(['fine', { fault: 'hang' }]));
});

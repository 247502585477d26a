import type { Answer, SimulatedRequest } from '../../src/testing';
import { SimulatedModel } from '../../src/testing/simulated-model';

const ERROR: Answer = { fault: 'server-error' };
const HANG: Answer = { fault: 'hang' };
const SCHEDULE = [
  { share: 0.2, answer: ERROR },
  { share: 0.05, answer: HANG },
];

function request(text: string): SimulatedRequest {
  return {
    sequence: 1,
    protocol: 'anthropic',
    callId: null,
    model: 'model',
    messages: [{ role: 'user', text }],
    text,
    maxOutputTokens: null,
  };
}

const PROMPTS = Array.from({ length: 400 }, (_, index) => `Question ${index}`);

function answersOf(seed: number, prompts: readonly string[]): Map<string, Answer> {
  const model = new SimulatedModel({ schedule: SCHEDULE, answer: 'fine' }, seed);
  return new Map(prompts.map((prompt) => [prompt, model.next(request(prompt))]));
}

test('a script is played first, in order, and then the standing answer', () => {
  const model = new SimulatedModel({ script: ['one'], answer: 'standing' }, 0);
  model.script.push('two', { fault: 'hang' });
  const answers = Array.from({ length: 4 }, () => model.next(request('Why?')));
  expect(answers).toEqual(['one', 'two', { fault: 'hang' }, 'standing']);
});

test('a schedule gives each answer its share of requests, and another seed picks other requests', () => {
  const answers = answersOf(7, PROMPTS);
  const count = (answer: Answer) => [...answers.values()].filter((each) => each === answer).length;
  // In 400 draws, five standard deviations are 40 at 0.2 and 22 at 0.05.
  expect(Math.abs(count(ERROR) - 80)).toBeLessThan(40);
  expect(Math.abs(count(HANG) - 20)).toBeLessThan(22);
  expect(count(HANG)).toBeGreaterThan(0);
  expect(count('fine')).toBe(400 - count(ERROR) - count(HANG));
  expect(answersOf(8, PROMPTS)).not.toEqual(answers);
});

test('which request gets which answer does not depend on the order of arrival', () => {
  const backwards = answersOf(7, PROMPTS.toReversed());
  const forwards = answersOf(7, PROMPTS);
  for (const prompt of PROMPTS) expect(backwards.get(prompt)).toBe(forwards.get(prompt));
});

test('a retry of the same prompt draws again', () => {
  const model = new SimulatedModel({ schedule: [{ share: 0.5, answer: HANG }], answer: 'fine' }, 0);
  const answers = Array.from({ length: 50 }, () => model.next(request('Why?')));
  expect(new Set(answers)).toEqual(new Set(['fine', HANG]));
});

test('its own reply is the standing answer, or a plain text that differs between prompts if that is a fault', () => {
  const ownReply = (answer: Answer, prompt = 'Why?') =>
    new SimulatedModel({ answer }, 0).ownReply(request(prompt));
  expect(ownReply('standing')).toEqual({ text: 'standing' });
  expect(ownReply({ text: 'late', delayMs: 5 })).toEqual({ text: 'late', delayMs: 5 });
  expect(ownReply(HANG)).toEqual({ text: expect.stringMatching(/^model answers [0-9a-f]{12}$/) as string });
  expect(ownReply(HANG)).toEqual(ownReply(HANG));
  expect(ownReply(HANG)).not.toEqual(ownReply(HANG, 'Who?'));
});

test('it charges by its price, and without one the cost is unknown', () => {
  const usage = { inputTokens: 1000, outputTokens: 10, cachedInputTokens: 400, reasoningTokens: 5 };
  const price = { input: 2, output: 10, cachedInput: 0.2 };
  // 600 × 2,000 + 400 × 200 + 10 × 10,000 nano-USD.
  expect(new SimulatedModel({ price }, 0).charge(usage)).toBe(1_380_000);
  expect(new SimulatedModel({}, 0).charge(usage)).toBeNull();
});

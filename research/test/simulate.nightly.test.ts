import OpenAI from 'openai';
import { bestReview, chanceOfPlan, findOptimum } from '../world/optimum';
import { questionSet, readQuestion } from '../world/questions';
import { answerIn, replyAs, startWorld } from '../world/simulate';
import { SMALL_WORLD, topicOf, WHOLE_WORLD } from '../world/world';
import type { Plan, Step } from '../../src';
import { step } from '../../test/support/step';
import { type GivenText, workerMessages } from '../../src/plan/prompt/worker';

const RUNS = 600;
/** Three standard errors of a chance measured in `RUNS` runs, at most. */
const NOISE = 3 * Math.sqrt(0.25 / RUNS);

interface Asked {
  readonly question: string;
  readonly given?: readonly GivenText[];
  readonly seed?: number;
}

/** Runs a plan with texts alone, as the product does: each step gets the product's own prompt. */
function carryOut({ steps }: Plan, { question, given = [], seed = 1 }: Asked, run: string): string {
  const outputs: string[] = [];
  for (const [index, { worker, subtask, sees }] of steps.entries()) {
    const seen = sees.map((step) => ({
      step,
      subtask: steps[step]?.subtask ?? '',
      output: outputs[step] ?? '',
    }));
    const [message] = workerMessages({ question, subtask, background: given, sees: seen, layout: 'tagged' });
    outputs.push(
      replyAs(WHOLE_WORLD, seed, { worker, prompt: message?.text ?? '', callId: `${run}/${index}` }),
    );
  }
  return outputs.at(-1) ?? '';
}

/** Returns the share of right answers to the questions of a topic. */
function shareRight(topic: string, answerTo: (question: string, run: number) => string): number {
  const questions = questionSet(WHOLE_WORLD, 'train', 40, 3).filter((row) => row.topic === topic);
  let right = 0;
  for (let run = 0; run < RUNS; run += 1) {
    const { question, answer } = questions[run % questions.length] ?? { question: '', answer: '' };
    if (answerIn(answerTo(question, run)) === Number(answer)) right += 1;
  }
  return right / RUNS;
}

const PLANS: readonly (readonly Step[])[] = [
  [step('coder', 'Solve it.')],
  [step('writer', 'Plan it.'), step('coder', 'Solve it.', [0]), step('critic', 'Check it.', [0, 1])],
  [step('quick', 'Outline it.'), step('maths', 'Compute it.', [0])],
  [step('maths', 'Solve it.'), step('quick', 'Check it.', [0]), step('critic', 'Review it.', [1])],
  [step('maths', 'Solve it.'), step('critic', 'Check it.', [0]), step('critic', 'Verify it.', [0, 1])],
  [step('critic', 'Improve it.'), step('writer', 'Polish it.', [0])],
  [step('maths', 'Solve it.'), step('critic', 'Answer it.', [0]), step('writer', 'Refine it.', [0, 1])],
  [step('writer', 'Solve it.'), step('writer', 'Sketch it.', [0])],
];

test.each(PLANS.map((steps) => ({ steps })))(
  'simulated texts are right as often as the exact chance says, plan %#',
  (plan) => {
    for (const topic of WHOLE_WORLD.topics) {
      const exact = chanceOfPlan(WHOLE_WORLD, topic, plan);
      const share = shareRight(topic.name, (question, run) => carryOut(plan, { question }, `run ${run}`));
      expect(Math.abs(share - exact)).toBeLessThan(NOISE);
    }
  },
);

test('simulated reviews, whose workers see the answer so far, are also right as often as the exact chance says', () => {
  const { topics } = findOptimum(WHOLE_WORLD);
  const first = topics.find(({ topic }) => topic === 'code')?.best ?? { plan: { steps: [] }, chance: 0 };
  const review = bestReview(WHOLE_WORLD, topicOf(WHOLE_WORLD, 'code'), first);
  const share = shareRight('code', (question, run) => {
    const before = carryOut(first.plan, { question }, `first ${run}`);
    const plan = before.includes('not sure') ? review.onDoubt : review.onSure;
    const given = [{ subtask: null, output: before }];
    return plan.steps.length === 0 ? before : carryOut(plan, { question, given }, `second ${run}`);
  });
  expect(Math.abs(share - review.chance)).toBeLessThan(NOISE);
});

test('a repeated call gets the same reply; another call with the same prompt, or another seed, gets its own', () => {
  const [{ question } = { question: '' }] = questionSet(WHOLE_WORLD, 'train', 1, 0);
  const replies = (callIds: readonly string[], seed = 1) =>
    callIds.map((id) => carryOut({ steps: [step('coder', 'Solve it.')] }, { question, seed }, id));
  const ids = Array.from({ length: 20 }, (_, index) => `call ${index}`);
  expect(replies(ids)).toEqual(replies(ids));
  expect(new Set(replies(ids)).size).toBeGreaterThan(1);
  expect(replies(ids, 2)).not.toEqual(replies(ids));
});

test('a topic is identified by a whole word: there is no "lease" in "Please"', () => {
  expect(readQuestion(WHOLE_WORLD, 'Please add 12 to 34 for the thread.')).toMatchObject({
    topic: { name: 'code' },
    a: 12,
    b: 34,
  });
});

test('a prompt that the world cannot understand is refused, with what is missing', () => {
  const ask = (prompt: string) => () => replyAs(WHOLE_WORLD, 1, { worker: 'quick', prompt, callId: 'a' });
  expect(ask('Good morning.')).toThrow('<question> is missing');
  expect(ask('<question>\nWhy?\n</question>')).toThrow('it needs two numbers and a noun of a topic');
});

test('a worker answers over HTTP by its name, draws its luck from the call id, and is billed', async () => {
  const [{ question } = { question: '' }] = questionSet(SMALL_WORLD, 'train', 1, 0);
  const [message] = workerMessages({ question, subtask: 'Solve it.', sees: [], layout: 'tagged' });
  const prompt = message?.text ?? '';
  const world = await startWorld({ world: SMALL_WORLD, seed: 5 });
  const client = new OpenAI({ apiKey: 'key-of-a-test', baseURL: `${world.url}/v1`, maxRetries: 0 });
  const ask = async (callId?: string) => {
    const body = { model: 'critic', messages: [{ role: 'user' as const, content: prompt }] };
    const headers = callId === undefined ? {} : { 'X-Client-Request-Id': callId };
    const completion = await client.chat.completions.create(body, { headers });
    return completion.choices[0]?.message.content;
  };
  const calls = Array.from({ length: 12 }, (_, index) => `call ${index}`);
  const replies = await Promise.all(calls.map(ask));
  expect(replies).toEqual(
    calls.map((callId) => replyAs(SMALL_WORLD, 5, { worker: 'critic', prompt, callId })),
  );
  expect(new Set(replies).size).toBeGreaterThan(1);
  expect(await ask()).toBe(await ask());
  expect(world.log.every(({ nanoUsd }) => nanoUsd !== null && nanoUsd > 0)).toBe(true);
  await world.close();
});

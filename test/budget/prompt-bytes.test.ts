import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { conductorPromptBytes, workerPromptBytes } from '../../src/budget/prompt-bytes';
import {
  ACCESS_MODES,
  DESCRIBE_MODES,
  EXAMPLE_SET_NAMES,
  type Layout,
  type Message,
} from '../../src/plan/plan';
import { conductorMessages } from '../../src/plan/prompt/conductor';
import { putInWords } from '../../src/plan/prompt/told-calls';
import { workerMessages } from '../../src/plan/prompt/worker';
import { planOutputSchema } from '../../src/plan/render';
import type { ResolvedRun } from '../../src/protocol/cards';
import type { ConversationTurn, Text } from '../../src';
import type { AskedTexts } from '../../src/plan/prompt/fences';
import type { RunTask } from '../../src/protocol/activity-contract';
import { countTurns } from '../../src/store/conversations';
import { modelCard, runOf } from './cards';

test('no sentence of a prompt is in the sandbox, where its length could affect what a run begins', () => {
  const bundle = readFileSync(process.env.TEST_WORKFLOW_BUNDLE ?? '', 'utf8');
  for (const sentence of ['You are one member of a team', 'You direct a team', 'Reply with']) {
    expect(bundle).not.toContain(sentence);
  }
});

/** Texts that take more bytes than characters, imitate our tags, or are empty. */
const awkwardText: fc.Arbitrary<string> = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 200 }),
  fc.constant('漢字'.repeat(1000)),
  fc.constantFrom('', ' ', '\n', '</answer>', '<question-2>', '</your_subtask-999999999>'),
  fc
    .array(fc.constantFrom('<answer>', '<subtask-2>', '<question-3>', '\b\f\u0000"\\', 'x'), {
      maxLength: 30,
    })
    .map((parts) => parts.join('')),
);

/** A text that is sent inline, or a stored one, whose reference holds the text itself for this test. */
const storedOrNot: fc.Arbitrary<Text> = fc
  .tuple(awkwardText, fc.boolean())
  .map(([text, isStored]) => (isStored ? { ref: text, bytes: Buffer.byteLength(text), preview: '' } : text));

const turns: fc.Arbitrary<readonly ConversationTurn[]> = fc.array(
  fc.record(
    {
      role: fc.constantFrom<Message['role']>('system', 'user', 'assistant'),
      content: awkwardText,
      calls: fc.array(
        fc.record({ name: fc.constant('read_file'), arguments: awkwardText, output: awkwardText }),
        { minLength: 1, maxLength: 3 },
      ),
    },
    { requiredKeys: ['role', 'content'] },
  ),
  { maxLength: 4 },
);

/** Conversation and answer schema of a request, as they are sent. */
const asked = fc
  .record({ conversation: turns, answerSchema: fc.option(awkwardText, { nil: undefined }) })
  .map(({ conversation, answerSchema }): Omit<RunTask, 'question'> => ({
    ...(conversation.length > 0 && {
      conversation: { turns: countTurns(conversation), text: JSON.stringify(conversation) },
    }),
    ...(answerSchema !== undefined && { answerSchema }),
  }));

function askedWhole({ question, conversation, answerSchema }: RunTask): AskedTexts {
  return {
    question: wholeOf(question),
    ...(conversation && {
      conversation: putInWords(JSON.parse(wholeOf(conversation.text)) as ConversationTurn[]),
    }),
    ...(answerSchema !== undefined && { answerSchema: wholeOf(answerSchema) }),
  };
}

type Request = Parameters<typeof conductorPromptBytes>[0];

const REQUEST: Request = { question: 'Why?', repairs: [] };
const PROBLEM = { type: 'Plan.Invalid', message: 'no plan' };
const RUN = runWith(2, true);

function runWith(workers: number, jsonSchema: boolean): ResolvedRun {
  const pool = Array.from({ length: workers }, (_, ordinal) => ({
    ...modelCard(`worker-${ordinal}`),
    notes: 'strong at code',
  }));
  return runOf(pool, { capabilities: { sampling: true, effort: [], jsonSchema, maxOutputTokens: null } });
}

/** Returns the bytes that such a request really sends, with its schema as often as a model may see it. */
function sentBytes(request: Request, run: ResolvedRun): number {
  const { repairs, mayCallItself, background, review, hints } = request;
  const { jsonSchema } = run.conductor.capabilities;
  const workers = mayCallItself === true ? [...run.workers, { id: 'conductor', notes: null }] : run.workers;
  const messages = conductorMessages({
    ...askedWhole(request),
    workers: run.workers,
    describe: run.conductor.describe,
    access: run.conductor.access,
    subtasks: run.conductor.subtasks,
    maxSteps: run.limits.steps,
    format: jsonSchema ? 'json' : 'lists',
    style: run.conductor.prompt,
    examples: run.conductor.examples,
    mayCallItself,
    background: background?.map(({ subtask, output }) => ({
      subtask: subtask && wholeOf(subtask),
      output: wholeOf(output),
    })),
    review: review && { plan: review.plan, answer: wholeOf(review.answer) },
    hints,
    repairs: repairs.map(({ reply, problem }) => ({ reply: wholeOf(reply), problem: problem.message })),
  });
  const context = {
    workers: workers.map(({ id }) => id),
    maxSteps: run.limits.steps,
    round: 0,
    access: run.conductor.access,
  };
  const schema = JSON.stringify(planOutputSchema(context, 'grammar'));
  return realBytes(messages) + (jsonSchema ? 2 * Buffer.byteLength(schema) : 0);
}

const requests: fc.Arbitrary<Request> = fc.record({
  question: storedOrNot,
  repairs: fc.array(
    fc.record({ reply: storedOrNot, problem: awkwardText.map((message) => ({ ...PROBLEM, message })) }),
    { maxLength: 2 },
  ),
  mayCallItself: fc.boolean(),
  background: fc.array(fc.record({ subtask: fc.option(storedOrNot), output: storedOrNot }), { maxLength: 2 }),
  review: fc.option(
    fc.record({
      plan: fc.record({
        steps: fc.array(
          fc.record({
            worker: fc.constantFrom('worker-0', 'gone'),
            subtask: awkwardText,
            sees: fc.constantFrom([], [0]),
          }),
          { maxLength: 3 },
        ),
      }),
      answer: storedOrNot,
    }),
    { nil: undefined },
  ),
  hints: fc.array(awkwardText, { maxLength: 3 }),
});
const ownExamples = fc.array(
  fc.record({
    question: awkwardText,
    reasoning: awkwardText,
    plan: fc.array(awkwardText, { maxLength: 5 }).map((subtasks) => ({
      steps: subtasks.map((subtask, index) => ({
        worker: `${100 * index}`,
        subtask,
        sees: [...Array(index).keys()].slice(1),
      })),
    })),
  }),
  { maxLength: 3 },
);
const runs = fc
  .record({
    workers: fc.constantFrom(1, 2, 300),
    jsonSchema: fc.boolean(),
    prompt: fc.constantFrom('full', 'compact'),
    describe: fc.constantFrom(...DESCRIBE_MODES),
    price: fc.option(
      fc.record({
        input: fc.double({ min: 0, max: 1e6, noNaN: true }),
        output: fc.double({ min: 0, max: 1e6, noNaN: true }),
      }),
    ),
    examples: fc.oneof(fc.constantFrom(undefined, ...EXAMPLE_SET_NAMES), ownExamples),
    access: fc.constantFrom(...ACCESS_MODES),
    subtasks: fc.boolean(),
    steps: fc.constantFrom(1, 5, 50),
  })
  .map(({ workers: count, jsonSchema, steps, price, ...told }) => {
    const run = runWith(count, jsonSchema);
    const workers = run.workers.map((worker) => ({ ...worker, price }) as typeof worker);
    return { ...run, workers, conductor: { ...run.conductor, ...told }, limits: { ...run.limits, steps } };
  });

test("the Conductor's prompt with its schema never exceeds its bound, for any texts, inline or stored", () => {
  fc.assert(
    fc.property(requests, asked, runs, (plain, more, run) => {
      const request = { ...plain, ...more };
      expect(sentBytes(request, run)).toBeLessThanOrEqual(conductorPromptBytes(request, run));
    }),
    { numRuns: 300 },
  );
});

test('the bound is tight: less than 1000 bytes above the real size', () => {
  expect(conductorPromptBytes(REQUEST, RUN) - sentBytes(REQUEST, RUN)).toBeLessThan(1000);
});

test('a failed reply counts only as far as it is shown', () => {
  const endless = '漢'.repeat(100_000);
  const whole = { ...REQUEST, repairs: [{ reply: endless, problem: PROBLEM }] };
  const bound = (bytes: number): number =>
    conductorPromptBytes(
      { ...REQUEST, repairs: [{ reply: { ref: '', bytes, preview: '' }, problem: PROBLEM }] },
      RUN,
    );
  expect(bound(300_000)).toBeGreaterThanOrEqual(sentBytes(whole, RUN));
  expect(bound(900_000)).toBe(bound(300_000));
});

const stepRequests = fc.record({
  question: storedOrNot,
  failed: fc.option(
    fc.record({ reply: storedOrNot, problem: awkwardText.map((message) => ({ ...PROBLEM, message })) }),
    { nil: undefined },
  ),
  subtask: awkwardText,
  sees: fc.array(
    fc.record({
      step: fc.nat({ max: 4 }),
      worker: fc.constant('w'),
      subtask: storedOrNot,
      output: storedOrNot,
    }),
    { maxLength: 4 },
  ),
  worker: fc
    .record(
      { layout: fc.constantFrom<Layout>('tagged', 'chat', 'plain'), instructions: awkwardText },
      { requiredKeys: ['layout'] },
    )
    .map((told) => ({ ...modelCard('w'), ...told })),
});

test("a worker's prompt never exceeds its bound, for any texts, inline or stored", () => {
  fc.assert(
    fc.property(stepRequests, asked, (plain, more) => {
      const request = { ...plain, ...more };
      const { subtask, sees, worker, failed } = request;
      const messages = workerMessages({
        ...askedWhole(request),
        ...(failed && { failed: { reply: wholeOf(failed.reply), problem: failed.problem.message } }),
        subtask,
        sees: sees.map((seen) => ({ ...seen, subtask: wholeOf(seen.subtask), output: wholeOf(seen.output) })),
        layout: worker.layout,
        instructions: worker.instructions,
      });
      expect(realBytes(messages)).toBeLessThanOrEqual(workerPromptBytes(request));
    }),
    { numRuns: 300 },
  );
});

const STEP = { question: 'Why?', subtask: 'Say', sees: [], worker: modelCard('w') };

test("a worker's bound is tight as well", () => {
  const messages = workerMessages({ ...STEP, layout: 'tagged' });
  expect(workerPromptBytes(STEP) - realBytes(messages)).toBeLessThan(1000);
});

test('an enforced schema counts as often as a vendor may send it, and a conversation counts turn by turn', () => {
  const answerSchema = JSON.stringify({ description: 'x'.repeat(1000) });
  const [held, told] = [true, false].map((jsonSchema) =>
    workerPromptBytes({
      ...STEP,
      answerSchema,
      worker: { ...modelCard('w'), capabilities: { ...modelCard('w').capabilities, jsonSchema } },
    }),
  );
  expect((held ?? 0) - (told ?? 0)).toBe(2 * answerSchema.length);
  const conversation = { turns: 3, text: { ref: 'r', bytes: 100_000, preview: '' } };
  const more = workerPromptBytes({ ...STEP, conversation }) - workerPromptBytes(STEP);
  expect(more).toBeGreaterThanOrEqual(100_000 + 3 * 64);
});

test('the background that every step of a child may see counts as well', () => {
  const background = [{ subtask: 'é'.repeat(50), output: { ref: 'r', bytes: 100_000, preview: '' } }];
  const more = workerPromptBytes({ ...STEP, background }) - workerPromptBytes(STEP);
  expect(more).toBeGreaterThanOrEqual(100_000 + 100);
});

/** Returns the text itself, also for a reference. */
function wholeOf(text: Text): string {
  return typeof text === 'string' ? text : text.ref;
}

/** Returns the bytes really sent, with 64 for the tags that a chat template puts around each message. */
function realBytes(messages: readonly Message[]): number {
  return messages.reduce((sum, { text }) => sum + Buffer.byteLength(text) + 64, 0);
}

import { once } from 'node:events';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { MockActivityEnvironment } from '@temporalio/testing';
import { parseTrainable } from '../../../src/training/config/load';
import { resolveRun } from '../../../src/config/resolve-run';
import type { TrainableConfig } from '../../../src/training';
import { renderPlan } from '../../../src';
import { SqliteStore } from '../../../src/store/sqlite-store';
import { readSamples } from '../../../src/training/activities/batch';
import { QuestionSets } from '../../../src/evaluation/activities/question-sets';
import { keepLines } from '../../../src/store/texts';
import {
  samplePlans,
  type SamplePlansRequest,
  type SamplePlansResult,
} from '../../../src/training/activities/sample-plans';
import { questionSetKey } from '../../../src/evaluation/contract';
import { asFailure, POLICY_FAILURES } from '../../../src/training/policy/errors';
import { writeManifest } from '../../../src/training/policy/serving';
import { aManifest } from '../../support/a-manifest';
import { type ScriptedPolicy, startScriptedPolicy } from '../../support/scripted-policy';
import { step } from '../../support/stage';
import { freshFolder } from '../../local/fresh-folder';

const model = { provider: 'openai', baseUrl: 'http://127.0.0.1:9/v1', model: 'm' } as const;
const pool = [
  { id: 'quick', ...model, notes: 'fast' },
  { id: 'coder', ...model },
];
const { workers } = resolveRun(parseTrainable({ conductor: model, workers: pool }));
const IDS = ['quick', 'coder'];
const SOLVE = renderPlan({ steps: [step('coder', 'Solve it.')] }, IDS);
const ACCEPT = renderPlan({ steps: [] }, IDS);

let folder: string;
let store: SqliteStore;
let policy: ScriptedPolicy;
let request: SamplePlansRequest;
let conductor: TrainableConfig['conductor'];
beforeEach(async () => {
  folder = await freshFolder();
  store = new SqliteStore(join(folder, 'store.db'));
  policy = await startScriptedPolicy('nightly-000001');
  ({ conductor } = parseTrainable({ conductor: model, workers: [{ id: 'quick', ...model }] }));
  await writeManifest(store, aManifest());
  const questions = [
    { id: 'q0', question: 'What is 1 + 1?', answer: '2', grader: 'number' },
    { id: 'q1', question: 'What is 2 + 2?', answer: '4', grader: 'number' },
  ];
  const { key: set } = await keepLines(store, questions, questionSetKey);
  const { baseUrl } = policy;
  request = {
    trainRun: 'nightly',
    cycle: 2,
    draw: 3,
    round: 0,
    purpose: 'training',
    question: { set, index: 1 },
    checkpoint: { trainRun: 'nightly', name: '000001' },
    workers,
    maxSteps: 2,
    plans: 3,
    seed: 11,
    temperature: 1,
    policy: {
      baseUrl,
      prompt: 'compact',
      describe: 'notes',
      temperature: 1,
      servingTemperature: 0.2,
      maxPromptTokens: 400,
      maxOutputTokens: 64,
      timeoutMs: 10_000,
      patienceMs: 10_000,
    },
  };
});
afterEach(async () => {
  await policy.close();
});

/** Samples in a fresh worker process, which knows nothing of an earlier one. */
function sample(
  change: Partial<SamplePlansRequest> = {},
  activity = new MockActivityEnvironment(),
): Promise<SamplePlansResult> {
  const questions = new QuestionSets(store);
  const dependencies = { store, questions, config: { conductor } };
  return activity.run(() => asFailure(() => samplePlans(dependencies, { ...request, ...change })));
}

function prompts(): string[] {
  return policy.bodiesTo('/v1/completions').map(({ prompt }) => Buffer.from(prompt as number[]).toString());
}

test('a group is one request, and its plans are read as any other', async () => {
  policy.script(SOLVE, 'hm', ACCEPT);
  const { question, plans } = await sample();

  expect(question).toEqual({ id: 'q1', text: 'What is 2 + 2?' });
  const solved = { steps: [step('coder', 'Solve it.')] };
  expect(plans[0]).toEqual({ plan: solved, problem: null, tokens: SOLVE.length + 1 });
  expect(plans[1]).toMatchObject({ plan: null, problem: expect.stringContaining('model_id') as string });
  // Nothing is there yet that could be accepted.
  expect(plans[2]).toMatchObject({ plan: null, problem: expect.any(String) as string });
  expect(policy.bodiesTo('/v1/completions')).toMatchObject([
    { model: 'nightly-000001', n: 3, seed: 11, temperature: 1, max_tokens: 64 },
  ]);
  expect(prompts()).toEqual([
    '<|im_start|>user\nWhat is 2 + 2?\nWorkers:\nModel id 0: fast\nModel id 1<|im_end|>\n<|im_start|>assistant\n',
  ]);
});

test('a canary is asked of the servers that users are served by', async () => {
  const users = await startScriptedPolicy('nightly-000001');
  try {
    users.script(SOLVE);
    policy.script('hm');
    const asked = { provider: 'policy', baseUrl: users.baseUrl } as const;
    ({ conductor } = parseTrainable({ conductor: asked, workers: [{ id: 'quick', ...model }] }));
    const { plans } = await sample({ purpose: 'canary', plans: 1 });
    expect(plans[0]?.plan).toEqual({ steps: [step('coder', 'Solve it.')] });
    expect((await sample({ purpose: 'evaluation', plans: 1 })).plans[0]?.plan).toBeNull();

    // Where nothing else is said, that is where it was published.
    ({ conductor } = parseTrainable({ conductor: model, workers: [{ id: 'quick', ...model }] }));
    await writeManifest(store, { ...aManifest(), servers: [users.baseUrl] });
    expect((await sample({ purpose: 'canary', plans: 1, seed: 12 })).plans[0]?.plan).not.toBeNull();
  } finally {
    await users.close();
  }
});

test('what was sampled is kept token by token, and whoever asks again is given that', async () => {
  policy.script(SOLVE, 'hm', 'other');
  const first = await sample();
  policy.script('something else');
  expect(await sample()).toEqual(first);
  expect(policy.bodiesTo('/v1/completions')).toHaveLength(1);

  const kept = await readSamples(store, first.samples);
  const tokenizerSha256 = 'b'.repeat(64);
  expect(kept).toMatchObject({ checkpoint: 'nightly/000001', temperature: 1, tokenizerSha256 });
  const [rollout] = kept?.rollouts ?? [];
  expect(rollout?.text).toBe(SOLVE);
  expect(Buffer.from(rollout?.promptTokenIds ?? []).toString()).toBe(prompts()[0]);
  expect(rollout?.completionTokenIds).toEqual([...Buffer.from(SOLVE), 256]);
  expect(rollout?.sampledLogprobs).toEqual(rollout?.completionTokenIds.map(() => -0.25));
});

test.each([
  ['seed', { seed: 12 }],
  ['temperature', { temperature: 0.7 }],
  ['number', { plans: 2 }],
  ['pool', { workers: workers.toReversed() }],
] as const)('with another %s nothing of the earlier sample is used', async (_, change) => {
  policy.script(SOLVE);
  const first = await sample();
  policy.script('something else');
  const second = await sample(change);
  expect(second.samples).toBe(first.samples);
  expect((await readSamples(store, second.samples))?.rollouts[0]?.text).toBe('something else');
});

test('a checkpoint that was made anew under the same name is another one', async () => {
  policy.script(SOLVE);
  await sample();
  await writeManifest(store, aManifest({ weightsSha256: 'c'.repeat(64) }));
  policy.script('something else');
  await sample();
  expect(policy.bodiesTo('/v1/completions')).toHaveLength(2);
});

test('a checkpoint is tried as its own manifest says, and beside the training', async () => {
  policy.script(SOLVE);
  const trained = await sample();
  const tried = await sample({ purpose: 'evaluation' });
  expect(tried.samples).not.toBe(trained.samples);
  expect(prompts()[1]).not.toContain('fast');
  expect(policy.bodiesTo('/v1/completions')[1]).toMatchObject({ max_tokens: 100 });
});

describe('a second round', () => {
  const solved = { steps: [step('coder', 'Solve it.')] };
  const earlier = ['4', '5', '4'].map((answer) => ({ plan: solved, answer }));

  test('shows each plan with its answer, equal ones in one request, and keeps the order', async () => {
    policy.script('1', '2', '3');
    const { samples } = await sample({ round: 1, earlier });
    const asked = policy.bodiesTo('/v1/completions').map(({ n, seed }) => ({ n, seed }));
    expect(asked.sort((a, b) => Number(a.seed) - Number(b.seed))).toEqual([
      // The second reply of the first request is drawn by 12.
      { n: 2, seed: 11 },
      { n: 1, seed: 13 },
    ]);
    const answersIn = (texts: readonly string[]) => texts.map((text) => /Answer: (\d)/.exec(text)?.[1]);
    expect(answersIn(prompts()).sort()).toEqual(['4', '5']);
    const { rollouts = [] } = (await readSamples(store, samples)) ?? {};
    const shown = rollouts.map(({ promptTokenIds }) => Buffer.from(promptTokenIds).toString());
    expect(answersIn(shown)).toEqual(['4', '5', '4']);
  });

  test('may accept the answer', async () => {
    policy.script(ACCEPT);
    expect((await sample({ round: 1, earlier })).plans[0]?.plan).toEqual({ steps: [] });
  });
});

test.each([
  ['a server that is away', 503, '', { type: POLICY_FAILURES.unavailable, nonRetryable: false }],
  ['an answer that is none', 200, '{"choices":[]}', { type: POLICY_FAILURES.badReply, nonRetryable: true }],
] as const)(
  '%s: a failure that says who tries again, and nothing is kept',
  async (_, status, body, failure) => {
    policy.answerOnce('/v1/completions', { status, body });
    await expect(sample()).rejects.toMatchObject(failure);
    expect(await store.list('training/nightly/cycles/')).toEqual([]);
    policy.script(SOLVE);
    expect((await sample()).plans).toHaveLength(3);
  },
);

test('a checkpoint that the store does not know', async () => {
  await expect(sample({ checkpoint: { trainRun: 'nightly', name: '000009' } })).rejects.toMatchObject({
    type: POLICY_FAILURES.noManifest,
    nonRetryable: true,
    message: expect.stringContaining('nightly/000009') as string,
  });
});

describe('a server that never answers', () => {
  let silent: Server;
  beforeEach(async () => {
    // Read to its end, or a connection that its client leaves stays open.
    silent = createServer((socket) => socket.resume()).listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const { port } = silent.address() as AddressInfo;
    request = { ...request, policy: { ...request.policy, baseUrl: `http://127.0.0.1:${port}/v1` } };
  });
  afterEach(() => silent.close());

  test('is given up when its time is over, and asked again', async () => {
    const policySettings = { ...request.policy, timeoutMs: 20 };
    await expect(sample({ policy: policySettings })).rejects.toMatchObject({
      type: POLICY_FAILURES.unavailable,
      nonRetryable: false,
      message: expect.stringContaining('within 0.02 s') as string,
    });
  });

  test('is left as soon as the group is cancelled', async () => {
    const activity = new MockActivityEnvironment();
    silent.once('connection', () => {
      activity.cancel('CANCELLED');
    });
    await expect(sample({}, activity)).rejects.toMatchObject({ name: 'CancelledFailure' });
  });
});

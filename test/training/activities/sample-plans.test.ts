import { MockActivityEnvironment } from '@temporalio/testing';
import { parseTrainable } from '../../../src/training/config';
import { resolveRun } from '../../../src/config/resolve-run';
import type { TrainableConfig } from '../../../src/training';
import { renderPlan } from '../../../src';
import type { SqliteStore } from '../../../src/store/sqlite-store';
import { readSamples } from '../../../src/training/activities/batch';
import { QuestionSets } from '../../../src/evaluation/activities';
import { keepLines } from '../../../src/store/records';
import {
  samplePlans,
  type SamplePlansRequest,
  type SamplePlansResult,
} from '../../../src/training/activities/sample-plans';
import { questionSetKey } from '../../../src/evaluation/definitions';
import { asPolicyFailure, POLICY_FAILURES } from '../../../src/training/policy/errors';
import { writeManifest } from '../../../src/training/policy/serving';
import { samplesKey } from '../../../src/training/store-keys';
import { aManifest } from '../../support/a-manifest';
import { startScriptedPolicy } from '../../support/scripted-policy';
import { type Listening, serve } from '../../support/serve';
import { step } from '../../support/stage';
import { useEach } from '../../support/use';
import { freshStore } from '../../local/fresh-folder';

const model = { provider: 'openai', baseUrl: 'http://127.0.0.1:9/v1', model: 'm' } as const;
const IDS = ['quick', 'coder'];
const pool = IDS.map((id) => ({ ...model, id, ...(id === 'quick' && { notes: 'fast' }) }));
const CONFIG = parseTrainable({ conductor: model, workers: pool });
const { workers } = resolveRun(CONFIG);
const SOLVE = renderPlan({ steps: [step('coder', 'Solve it.')] }, IDS);
const ACCEPT = renderPlan({ steps: [] }, IDS);

let store: SqliteStore;
const policy = useEach(() => startScriptedPolicy('nightly-000001'));
let request: SamplePlansRequest;
let conductor: TrainableConfig['conductor'];
beforeEach(async () => {
  store = await freshStore();
  ({ conductor } = CONFIG);
  await writeManifest(store, aManifest());
  const questions = [0, 1].map((index) => {
    return { id: `q${index}`, question: 'What is 2 + 2?', answer: '4', grader: 'number' };
  });
  const { key: set } = await keepLines(store, questions, questionSetKey);
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
      baseUrl: policy.baseUrl,
      prompt: 'compact',
      describe: 'notes',
      access: 'binary',
      subtasks: true,
      examples: [],
      temperature: 1,
      servingTemperature: 0.2,
      maxPromptTokens: 400,
      maxOutputTokens: 64,
      timeoutMs: 10_000,
      patienceMs: 10_000,
    },
  };
});
/** Samples as a fresh worker process would, without state of an earlier one. */
function sample(
  change: Partial<SamplePlansRequest> = {},
  activity = new MockActivityEnvironment(),
): Promise<SamplePlansResult> {
  const questions = new QuestionSets(store);
  const dependencies = { store, questions, config: { conductor } };
  return activity.run(() => asPolicyFailure(() => samplePlans(dependencies, { ...request, ...change })));
}

function prompts(): string[] {
  return policy.bodiesTo('/v1/completions').map(({ prompt }) => Buffer.from(prompt as number[]).toString());
}

test('a group is one request, and its plans are read like any other', async () => {
  policy.script(SOLVE, 'hm', ACCEPT);
  const { question, plans } = await sample();

  expect(question).toEqual({ id: 'q1', text: 'What is 2 + 2?' });
  const solved = { steps: [step('coder', 'Solve it.')] };
  expect(plans[0]).toEqual({ plan: solved, problem: null, tokens: SOLVE.length + 1 });
  expect(plans[1]).toMatchObject({ plan: null, problem: expect.stringContaining('model_id') as string });
  // An empty plan is no plan in the first round: there is no answer to accept.
  expect(plans[2]).toMatchObject({ plan: null, problem: expect.any(String) as string });
  const asked = { model: 'nightly-000001', n: 3, seed: 11, temperature: 1, max_tokens: 64 };
  expect(policy.bodiesTo('/v1/completions')).toMatchObject([asked]);
  expect(prompts()).toEqual([
    '<|im_start|>user\nWhat is 2 + 2?\nWorkers:\nModel id 0: fast\nModel id 1<|im_end|>\n<|im_start|>assistant\n',
  ]);
});

test('what a step may see is described as in training, and for a trial as its manifest says', async () => {
  const sees = [step('coder', 'Solve it.'), step('quick', 'Try it.'), step('coder', 'Check it.', [1])];
  const reply = renderPlan({ steps: sees }, IDS);
  const planOf = async (change: Partial<SamplePlansRequest>): Promise<unknown> => {
    policy.script(reply);
    const { plans } = await sample({ plans: 1, maxSteps: 3, ...change });
    return plans[0]?.plan ?? plans[0]?.problem;
  };
  expect(await planOf({})).toContain('["all"] (sees every earlier step), not "1"');
  expect(await planOf({ policy: { ...request.policy, access: 'any' } })).toEqual({ steps: sees });
  expect(await planOf({ purpose: 'evaluation' })).toContain('["all"] (sees every earlier step), not "1"');
  await writeManifest(store, aManifest({ name: '000002', access: 'any' }));
  const checkpoint = { trainRun: 'nightly', name: '000002' };
  expect(await planOf({ purpose: 'evaluation', checkpoint })).toEqual({ steps: sees });
});

test('prices are shown if the policy is trained with them, and for a trial if its manifest says so', async () => {
  policy.script(SOLVE);
  const priced = workers.map((worker) => ({ ...worker, price: { input: 1, output: 4 } }) as typeof worker);
  const shown = async (change: Partial<SamplePlansRequest>): Promise<string | undefined> => {
    await sample({ workers: priced, ...change });
    return prompts().at(-1);
  };
  const policyOf = { ...request.policy, describe: 'notes+price' } as const;
  expect(await shown({ policy: policyOf })).toContain('Model id 0: fast; $1 in, $4 out per million tokens\n');
  expect(await shown({ purpose: 'evaluation' })).not.toContain('$');
  await writeManifest(store, aManifest({ name: '000002', describe: 'notes+price' }));
  const checkpoint = { trainRun: 'nightly', name: '000002' };
  expect(await shown({ purpose: 'evaluation', checkpoint })).toContain('Model id 1: $1 in, $4 out');
});

test('a question that continues a conversation is asked and reported with it', async () => {
  const conversation = [{ role: 'user', content: 'I add numbers.' }];
  const row = { id: 'q', conversation, question: 'What is 2 + 2?', answer: '4', grader: 'number' };
  const { key: set } = await keepLines(store, [row], questionSetKey);
  policy.script(SOLVE);
  const { question } = await sample({ question: { set, index: 0 }, plans: 1 });
  expect(question.conversation).toEqual({ turns: 1, text: JSON.stringify(conversation) });
  const shown = 'The conversation so far:\n<user>\nI add numbers.\n</user>\nWhat is 2 + 2?\nWorkers:';
  expect(prompts()[0]).toContain(shown);
});

test('a canary asks the servers that serve users', async () => {
  const users = await startScriptedPolicy('nightly-000001');
  try {
    users.script(SOLVE);
    policy.script('hm');
    const asked = { provider: 'policy', baseUrl: users.baseUrl } as const;
    ({ conductor } = parseTrainable({ conductor: asked, workers: pool }));
    const { plans } = await sample({ purpose: 'canary', plans: 1 });
    expect(plans[0]?.plan).toEqual({ steps: [step('coder', 'Solve it.')] });
    expect((await sample({ purpose: 'evaluation', plans: 1 })).plans[0]?.plan).toBeNull();

    // Unless a server is configured, the checkpoint is asked at the server to which it was published.
    ({ conductor } = CONFIG);
    await writeManifest(store, { ...aManifest(), servers: [users.baseUrl] });
    expect((await sample({ purpose: 'canary', plans: 1, seed: 12 })).plans[0]?.plan).not.toBeNull();
  } finally {
    await users.close();
  }
});

test('samples are kept token by token, and asking again gives the same ones', async () => {
  policy.script(SOLVE, 'hm', 'other');
  const first = await sample();
  policy.script('something else');
  expect(await sample()).toEqual(first);
  expect(policy.bodiesTo('/v1/completions')).toHaveLength(1);

  const kept = await readSamples(store, first.samples);
  const tokenizerSha256 = 'b'.repeat(64);
  expect(kept).toMatchObject({ checkpoint: 'nightly/000001', temperature: 1, tokenizerSha256 });
  const completionTokenIds = [...Buffer.from(SOLVE), 256];
  const sampledLogprobs = completionTokenIds.map(() => -0.25);
  const promptTokenIds = [...Buffer.from(prompts()[0] ?? '')];
  const tokens = { promptTokenIds, completionTokenIds, sampledLogprobs };
  expect(kept?.rollouts[0]).toMatchObject({ text: SOLVE, ...tokens });
});

test.each([
  ['seed', { seed: 12 }],
  ['temperature', { temperature: 0.7 }],
  ['number', { plans: 2 }],
  ['pool', { workers: workers.toReversed() }],
  ['checkpoint of the same name', {}],
] as const)('with another %s the earlier sample is not reused', async (_, change) => {
  policy.script(SOLVE);
  const first = await sample();
  if (Object.keys(change).length === 0)
    await writeManifest(store, aManifest({ weightsSha256: 'c'.repeat(64) }));
  policy.script('something else');
  const second = await sample(change);
  expect(second.samples).toBe(first.samples);
  expect((await readSamples(store, second.samples))?.rollouts[0]?.text).toBe('something else');
});

test('a trial follows the manifest of its checkpoint, and is kept apart from the training', async () => {
  policy.script(SOLVE);
  const trained = await sample();
  const tried = await sample({ purpose: 'evaluation' });
  expect(tried.samples).not.toBe(trained.samples);
  expect(prompts()[1]).not.toContain('fast');
  expect(policy.bodiesTo('/v1/completions')[1]).toMatchObject({ max_tokens: 100 });
});

describe('a policy that thinks', () => {
  // Tokens are bytes here, so that one character ends thoughts.
  const chat = { markers: [], ends: [256], system: true, thoughts: { end: 126, text: '~' } };
  const thinking = 'masked' as const;
  const asked = () => policy.bodiesTo('/tokenize').map(({ chat_template_kwargs: variables }) => variables);

  test('has its plan read behind its thoughts, whose tokens are counted', async () => {
    await writeManifest(store, aManifest({ chat }));
    policy.script(`Perhaps ${ACCEPT}~${SOLVE}`, `Perhaps ${SOLVE}`, `~${SOLVE}`);
    const { plans, samples } = await sample({ policy: { ...request.policy, thinking } });
    const solved = { steps: [step('coder', 'Solve it.')] };
    const cut = `Perhaps ${SOLVE}`.length + 1;
    // A plan drafted in thoughts that never end does not count.
    expect(plans.map(({ plan }) => plan)).toEqual([solved, null, solved]);
    expect(plans[1]?.tokens).toBe(cut);
    const kept = (await readSamples(store, samples))?.rollouts;
    expect(kept?.map(({ text, thoughtTokens }) => [text, thoughtTokens])).toEqual([
      [SOLVE, `Perhaps ${ACCEPT}~`.length],
      ['', cut],
      [SOLVE, 1],
    ]);
    expect(asked()).toEqual([{ enable_thinking: true }]);
  });

  test('is sampled anew if it stops thinking, and thinks in trials as its manifest says', async () => {
    await writeManifest(store, aManifest({ chat, thinking }));
    policy.script(`Well.~${SOLVE}`);
    await sample({ policy: { ...request.policy, thinking } });
    await sample();
    const { samples } = await sample({ purpose: 'evaluation' });
    expect(asked()).toEqual([true, false, true].map((each) => ({ enable_thinking: each })));
    expect((await readSamples(store, samples))?.rollouts[0]?.thoughtTokens).toBe(6);
  });
});

describe('a second round', () => {
  const solved = { steps: [step('coder', 'Solve it.')] };
  const earlier = ['4', '5', '4'].map((answer) => ({ plan: solved, answer }));

  test('shows each plan with its answer, asks for equal ones in one request, and keeps the order', async () => {
    policy.script(ACCEPT);
    const { samples, plans } = await sample({ round: 1, earlier });
    expect(plans[0]?.plan).toEqual({ steps: [] });
    const asked = policy.bodiesTo('/v1/completions').map(({ n, seed }) => ({ n, seed }));
    expect(asked.sort((a, b) => Number(a.seed) - Number(b.seed))).toEqual([
      // The second reply of the first request is drawn with seed 12.
      { n: 2, seed: 11 },
      { n: 1, seed: 13 },
    ]);
    const answersIn = (texts: readonly string[]) => texts.map((text) => /Answer: (\d)/.exec(text)?.[1]);
    expect(answersIn(prompts()).sort()).toEqual(['4', '5']);
    const { rollouts = [] } = (await readSamples(store, samples)) ?? {};
    const shown = rollouts.map(({ promptTokenIds }) => Buffer.from(promptTokenIds).toString());
    expect(answersIn(shown)).toEqual(['4', '5', '4']);
  });
});

test.each([
  ['a server that is away', 503, '', { type: POLICY_FAILURES.unavailable, nonRetryable: false }],
  ['an answer that is none', 200, '{"choices":[]}', { type: POLICY_FAILURES.badReply, nonRetryable: true }],
] as const)(
  '%s: the failure says whether to retry, and nothing is kept',
  async (_, status, body, failure) => {
    policy.answerOnce('/v1/completions', { status, body });
    await expect(sample()).rejects.toMatchObject(failure);
    expect(await store.list('training/nightly/cycles/')).toEqual([]);
    policy.script(SOLVE);
    expect((await sample()).plans).toHaveLength(3);
  },
);

test('a checkpoint that the store does not know fails permanently', async () => {
  const unknown = sample({ checkpoint: { trainRun: 'nightly', name: '000009' } });
  await expect(unknown).rejects.toMatchObject({ type: POLICY_FAILURES.noManifest, nonRetryable: true });
});

describe('a server that never answers', () => {
  let silent: Listening;
  const hear = jest.fn();
  beforeEach(async () => {
    silent = await serve(hear);
    request = { ...request, policy: { ...request.policy, baseUrl: `${silent.url}/v1` } };
  });
  afterEach(() => silent.close());

  test('is given up after the time limit, and can be retried', async () => {
    const message = expect.stringContaining('within 0.02 s') as string;
    const failure = { type: POLICY_FAILURES.unavailable, nonRetryable: false, message };
    await expect(sample({ policy: { ...request.policy, timeoutMs: 20 } })).rejects.toMatchObject(failure);
  });

  test('is left as soon as the group is cancelled', async () => {
    const activity = new MockActivityEnvironment();
    hear.mockImplementationOnce(() => {
      activity.cancel('CANCELLED');
    });
    await expect(sample({}, activity)).rejects.toMatchObject({ name: 'CancelledFailure' });
  });
});

describe('with a second server', () => {
  const other = useEach(() => startScriptedPolicy('nightly-000001'));
  const probe = { tokenIds: [1, 2, 3], logprobs: [-1, -1], tolerance: 1e-4 };

  beforeEach(async () => {
    await writeManifest(store, aManifest({ probe }));
    request = { ...request, policy: { ...request.policy, baseUrl: [policy.baseUrl, other.baseUrl] } };
  });

  const asked = (): number[] => [policy, other].map((each) => each.bodiesTo('/tokenize').length);
  const attempt = (number: number): MockActivityEnvironment =>
    new MockActivityEnvironment({ attempt: number });

  test('groups are dealt out to both', async () => {
    for (const draw of [0, 1, 2]) await sample({ draw });
    expect(asked()).toEqual([2, 1]);
  });

  test('samples of other weights are not kept, and the next attempt asks the other server', async () => {
    policy.promptLogprob = -1.25;
    const failure = { type: POLICY_FAILURES.unavailable, nonRetryable: false };
    await expect(sample({ draw: 0 })).rejects.toMatchObject(failure);
    expect(await readSamples(store, samplesKey({ ...request, draw: 0 }))).toBeNull();
    await sample({ draw: 0 }, attempt(2));
    expect(asked()).toEqual([1, 1]);
  });

  test('if all serve other weights, the last one asked is named', async () => {
    policy.promptLogprob = other.promptLogprob = -1.25;
    await expect(sample({ draw: 0 }, attempt(2))).rejects.toMatchObject({
      type: POLICY_FAILURES.otherWeights,
      nonRetryable: true,
      message: `the policy server ${other.baseUrl} gives log-probabilities of nightly-000001 that differ from the trainer's by 0.250, over the tolerance of 0.0001: it serves other weights than nightly/000001/model. Unload the model there, or restart the server; its samples were not used.`,
    });
  });

  test('a server that sleeps on is woken before it samples', async () => {
    policy.answerOnce('/is_sleeping', { status: 200, body: '{"is_sleeping":true}' });
    await sample({ draw: 0, policy: { ...request.policy, sleepDuringUpdate: true } });
    expect(policy.requests.map(({ path }) => path)).toEqual([
      ...['/is_sleeping', '/wake_up', '/tokenize', '/v1/completions', '/v1/completions'],
    ]);
  });
});

import { renderPlan } from '../../../src';
import { promote, rollback, writeManifest } from '../../../src/training/policy/serving';
import { aManifest } from '../../support/a-manifest';
import { startScriptedPolicy } from '../../support/scripted-policy';
import { openStage, step } from '../../support/stage';
import { useOnce } from '../../support/use';

/*
 * Whole solves whose plans a checkpoint writes. The policy server is scripted.
 */

const policy = useOnce(() => startScriptedPolicy('nightly-000001', 'nightly-000002'));
const conductor = { provider: 'policy', price: { input: 1, output: 2 } } as const;
const stage = useOnce(() => openStage({ config: { conductor, recursion: 'review', limits: { depth: 0 } } }));
beforeAll(async () => {
  for (const name of ['000001', '000002']) {
    const manifest = aManifest({ name, model: `nightly-${name}`, servers: [policy.baseUrl] });
    await writeManifest(stage.store, manifest);
  }
});

const solve = (question: string, depth = 0) =>
  stage.whileWorking(() => stage.client.solve({ question, limits: { depth } }));
const SERVE = { reason: 'a test', by: 'person' } as const;
const plan = renderPlan({ steps: [step('b', 'Answer it.')] }, ['a', 'b', 'c']);

test('if no checkpoint serves, a run says how to get one', async () => {
  const failed = await solve('2 + 2?');
  expect(failed).toMatchObject({ status: 'failed', error: { type: 'Configuration.Invalid' } });
  expect(failed.error?.message).toMatch(/no checkpoint serves .*train promote.*train start/);
});

test('the serving checkpoint writes the plan, asked as its manifest says', async () => {
  await promote(stage.store, { trainRun: 'nightly', name: '000001' }, SERVE);
  policy.script(plan);
  const result = await solve('2 + 2?');

  expect(result).toMatchObject({ status: 'completed', degraded: false, checkpoint: 'nightly/000001' });
  expect(result.rounds[0]?.plan?.steps).toEqual([step('b', 'Answer it.')]);
  const [asked] = policy.bodiesTo('/v1/completions');
  expect(asked).toMatchObject({ model: 'nightly-000001', n: 1, temperature: 0.2, max_tokens: 100 });
  expect(Buffer.from(asked?.prompt as number[]).toString()).toBe(
    '<|im_start|>user\n2 + 2?\nWorkers:\nModel id 0\nModel id 1\nModel id 2<|im_end|>\n<|im_start|>assistant\n',
  );
  const [call] = result.calls;
  const asPlanned = { purpose: 'plan', worker: 'conductor', model: 'nightly-000001' };
  const { inputTokens, outputTokens } = call?.usage ?? { inputTokens: NaN, outputTokens: NaN };
  expect(call).toMatchObject({
    ...asPlanned,
    nanoUsd: 1000 * inputTokens + 2000 * outputTokens,
    error: null,
  });
  expect(call?.nanoUsd).toBeGreaterThan(0);
  expect(call?.usage).toMatchObject({ inputTokens: (asked?.prompt as number[]).length });
  expect(result.costIsLowerBound).toBe(false);
  // The trace is read from the history alone, while no worker runs.
  expect(await stage.client.trace(result.id)).toEqual(result);
});

test('a repair shows the policy its own reply as a turn', async () => {
  await promote(stage.store, { trainRun: 'nightly', name: '000002' }, SERVE);
  policy.script('no plan <|im_end|>', plan);
  const result = await solve('3 + 3?');

  expect(result).toMatchObject({ status: 'completed', degraded: false, checkpoint: 'nightly/000002' });
  expect(result.calls.map(({ purpose }) => purpose)).toEqual(['plan', 'repair', 'step']);
  const repair = Buffer.from(policy.bodiesTo('/v1/completions').at(-1)?.prompt as number[]).toString();
  expect(repair).toMatch(
    /<\|im_start\|>assistant\nno plan < \|im_end\|><\|im_end\|>\n<\|im_start\|>user\n[^]*holds no valid plan/,
  );
});

test('after a rollback the earlier checkpoint serves, and a restarted policy server is made to load it', async () => {
  await rollback(stage.store, 'a test');
  policy.known.clear();
  policy.script(plan);
  const result = await solve('5 + 5?');
  expect(result).toMatchObject({ status: 'completed', degraded: false, checkpoint: 'nightly/000001' });
  expect(policy.bodiesTo('/v1/load_lora_adapter')).toEqual([
    { lora_name: 'nightly-000001', lora_path: 'nightly/000001/model' },
  ]);
});

test('a run keeps the checkpoint that it began with, whichever serves when it reviews', async () => {
  policy.script(plan, plan);
  const release = stage.providers.hold('b');
  const solving = solve('8 + 8?', 1);
  await stage.providers.waitForRequest(({ model, body }) => model === 'b' && body.includes('8 + 8?'));
  await promote(stage.store, { trainRun: 'nightly', name: '000002' }, SERVE);
  release();
  expect(await solving).toMatchObject({ status: 'completed', degraded: false, checkpoint: 'nightly/000001' });
  const models = policy
    .bodiesTo('/v1/completions')
    .slice(-2)
    .map(({ model }) => model);
  expect(models).toEqual(['nightly-000001', 'nightly-000001']);
  await rollback(stage.store, 'a test');
});

test('a policy that was trained to think thinks, and nobody is shown its thoughts', async () => {
  const thoughts = { end: 126, text: '~' };
  const chat = { markers: [], ends: [256], system: true, thoughts };
  const servers: [string] = [policy.baseUrl];
  const named = { name: '000003', model: 'nightly-000001', servers };
  await writeManifest(stage.store, aManifest({ ...named, chat, thinking: 'masked' }));
  await promote(stage.store, { trainRun: 'nightly', name: '000003' }, SERVE);
  policy.script(`Whom should I ask?~${plan}`);
  const result = await solve('9 + 9?');
  expect(result).toMatchObject({ status: 'completed', degraded: false, checkpoint: 'nightly/000003' });
  expect(result.calls[0]?.usage).toMatchObject({ reasoningTokens: 'Whom should I ask?~'.length });
  expect(JSON.stringify(result)).not.toContain('Whom should I ask?');
  const asked = policy.bodiesTo('/tokenize').at(-1);
  expect(asked).toMatchObject({ chat_template_kwargs: { enable_thinking: true } });
  await rollback(stage.store, 'a test');
});

test('a server that is briefly unavailable is asked again, at no cost', async () => {
  policy.answerOnce('/v1/completions', { status: 503, body: '' });
  policy.script(plan);
  const result = await solve('6 + 6?');
  expect(result).toMatchObject({ status: 'completed', degraded: false, costIsLowerBound: false });
  expect(result.calls.map(({ error }) => error?.type ?? null)).toEqual(['Provider.Unavailable', null, null]);
});

test('a run does without a policy that answers nonsense', async () => {
  const nonsense = { status: 200, body: '{"model":"nightly-000001","choices":[{"index":0,"logprobs":NaN}]}' };
  for (let tries = 0; tries < 2; tries += 1) policy.answerOnce('/v1/completions', nonsense);
  const result = await solve('7 + 7?');
  expect(result).toMatchObject({ status: 'completed', degraded: true });
  expect(result.calls[0]?.error).toMatchObject({ type: 'Provider.BadResponse' });
  expect(result.calls[0]?.error?.message).toMatch(
    /the Conductor \(policy nightly-000001\) wrote no plan: .*cannot be read/,
  );
});

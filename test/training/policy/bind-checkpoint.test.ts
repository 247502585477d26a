import { createActivities, createPacing, createTools, LiveLog } from '../../../src/activities';
import { backgroundOpenAI } from '../../../src/activities/models';
import { ConfigError } from '../../../src/config/errors';
import { keyFor } from '../../../src/config/api-keys';
import { parseTrainable } from '../../../src/training/config';
import { resolveRun } from '../../../src/config/resolve-run';
import type { TrainableInput } from '../../../src/training';
import type { ResolvedRun } from '../../../src/protocol/cards';
import { CHECK_RUN, RESOLVE_RUN } from '../../../src/protocol/names';
import type { SqliteStore } from '../../../src/store/sqlite-store';
import { createPolicyProvider, servedPolicyOf } from '../../../src/training/policy/conductor';
import { promote, writeManifest } from '../../../src/training/policy/serving';
import { aManifest } from '../../support/a-manifest';
import { freshStore } from '../../local/fresh-folder';

const workers = [{ id: 'a', provider: 'local', model: 'x.gguf' } as const];
const LOCAL = { provider: 'local', model: 'x.gguf' } as const;

let store: SqliteStore;
beforeEach(async () => {
  store = await freshStore();
  for (const name of ['000001', '000002'])
    await writeManifest(store, aManifest({ name, model: `m-${name}`, access: 'any' }));
  await promote(store, { trainRun: 'nightly', name: '000001' }, { reason: '', by: 'person' });
});

function bind(
  conductor: TrainableInput['conductor'],
  limits: TrainableInput['limits'] = {},
): Promise<ResolvedRun> {
  const config = parseTrainable({ conductor, limits, workers });
  return createPolicyProvider(store).bind(resolveRun(config));
}

test('the manifest of the serving checkpoint decides how it is asked', async () => {
  const { conductor, limits } = await bind({ provider: 'policy' });
  expect(conductor).toMatchObject({
    checkpoint: 'nightly/000001',
    model: 'm-000001',
    temperature: 0.2,
    maxOutputTokens: 100,
    describe: 'ordinals',
    access: 'any',
    prompt: 'compact',
    apiKeyEnv: null,
    price: { input: 0, output: 0 },
  });
  expect(limits.steps).toBe(3);
});

test('a checkpoint gets no steps of its own, since training never shows it itself as a member of its team', async () => {
  const recursions = [];
  for (const recursion of ['both', 'worker', 'review', 'never'] as const) {
    const config = parseTrainable({ conductor: { provider: 'policy' }, recursion, workers });
    recursions.push((await createPolicyProvider(store).bind(resolveRun(config))).recursion);
  }
  expect(recursions).toEqual(['review', 'never', 'review', 'never']);
});

test("a run's lower step limit overrides the manifest, and a fixed checkpoint overrides the serving one", async () => {
  const fixed = { provider: 'policy', checkpoint: 'nightly/000002' } as const;
  const { conductor, limits } = await bind(fixed, { steps: 2 });
  expect(limits.steps).toBe(2);
  expect(conductor).toMatchObject({ checkpoint: 'nightly/000002', model: 'm-000002' });
  const bound = bind({ provider: 'policy', checkpoint: 'nightly/000009' });
  await expect(bound).rejects.toThrow(ConfigError);
});

test('a checkpoint named by a run overrides the configuration, and the run keeps it whatever serves', async () => {
  const named = 'nightly/000002';
  const fixed = { provider: 'policy', checkpoint: 'nightly/000001' } as const;
  for (const conductor of [{ provider: 'policy' } as const, fixed, LOCAL]) {
    const config = parseTrainable({ conductor, workers });
    const provider = createPolicyProvider(store);
    const run = await provider.bind(resolveRun(config), named);
    expect(run.conductor).toMatchObject({ provider: 'policy', checkpoint: named, model: 'm-000002' });
    expect((await provider.bind(run)).conductor.checkpoint).toBe(named);
    expect(keyFor(run.conductor, config, {})).toBeNull();
    await expect(provider.bind(run, 'nightly')).rejects.toThrow('"nightly" names no checkpoint');
    await expect(provider.bind(run, 'nightly/9')).rejects.toThrow('checkpoint nightly/9 has no manifest');
  }
});

test('a further Conductor that is a checkpoint is bound to that one, whatever serves', async () => {
  const conductors = { second: { provider: 'policy', checkpoint: 'nightly/000002' } } as const;
  const config = parseTrainable({ conductor: { provider: 'policy' }, conductors, workers });
  const policy = createPolicyProvider(store);
  const own = {
    config,
    store,
    complete: policy.complete,
    background: backgroundOpenAI,
    env: {},
    tools: createTools(config, store, {}),
  };
  const dependencies = { ...own, pacing: createPacing(config, {}), liveLog: new LiveLog(store) };
  const activities = createActivities({ ...dependencies, policy });
  const resolve = async (name?: string, run?: ResolvedRun): Promise<unknown> =>
    (await activities[RESOLVE_RUN]({ question: 'Why?', conductor: { name }, run })).run.conductor.checkpoint;
  expect(await resolve()).toBe('nightly/000001');
  expect(await resolve('second')).toBe('nightly/000002');
  expect(await resolve('second', resolveRun(config))).toBe('nightly/000002');
  await expect(resolve('third')).rejects.toMatchObject({ type: 'Configuration.Invalid' });
});

test('a prompted Conductor is left unchanged', async () => {
  const { conductor } = await bind(LOCAL);
  expect(conductor.checkpoint).toBeUndefined();
  await expect(servedPolicyOf(store, conductor)).rejects.toBeInstanceOf(ConfigError);
});

test.each([
  ['where it was published to', {}, aManifest().servers[0]],
  ['where the configuration says', { baseUrl: 'http://gpu:8000/v1' }, 'http://gpu:8000/v1'],
] as const)('the checkpoint is asked %s', async (_, address, baseUrl) => {
  const { conductor } = await bind({ provider: 'policy', ...address });
  expect(await servedPolicyOf(store, conductor)).toMatchObject({
    baseUrl,
    folder: aManifest().folder,
    maxPromptTokens: 4000,
  });
});

test('a run bound to a checkpoint may be given to another solve, even with a queue per provider', async () => {
  const config = parseTrainable({ conductor: LOCAL, workers, temporal: { queuePerProvider: true } });
  const policy = createPolicyProvider(store);
  const run = await policy.bind(resolveRun(config), 'nightly/000002');
  const own = {
    config,
    store,
    complete: policy.complete,
    background: backgroundOpenAI,
    env: {},
    tools: createTools(config, store, {}),
  };
  const dependencies = { ...own, pacing: createPacing(config, {}), liveLog: new LiveLog(store) };
  const serving = createActivities({ ...dependencies, policy });
  await serving[CHECK_RUN](run);
  const change = { checkpoint: 'nightly/000002', access: 'binary' } as const;
  const changed = await serving[RESOLVE_RUN]({ question: 'Why?', conductor: change });
  expect(changed.run.conductor).toMatchObject(change);
  const resolved = await serving[RESOLVE_RUN]({ question: 'Again?', run });
  expect(resolved.run.conductor).toMatchObject({ provider: 'policy', checkpoint: 'nightly/000002' });

  const without = createActivities(dependencies);
  const refused = { type: 'Configuration.Invalid' };
  await expect(without[CHECK_RUN](run)).rejects.toMatchObject(refused);
  await expect(without[RESOLVE_RUN]({ question: 'Again?', run })).rejects.toMatchObject(refused);
});

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { modelsOf, PRICES, questionsOf, WORKERS } from '../../../examples/evaluate/world';
import { openStore, renderPlan } from '../../../src';
import { FREE_TOKENS } from '../../../src/config/resolve-run';
import { writeManifest } from '../../../src/training/policy/serving';
import { endedWith } from '../command';
import { aManifest } from '../../support/a-manifest';
import { startScriptedPolicy } from '../../support/scripted-policy';
import { step } from '../../support/stage';
import { useEach } from '../../support/use';
import { openEvaluationFolder } from './commands';

const { conductor: frontier, scholar: giant } = modelsOf(questionsOf(2));
const PRICE = { input: 3, output: 15 };

const stage = useEach(() =>
  openEvaluationFolder(2, {
    ...(frontier && { frontier: { ...frontier, price: PRICE } }),
    ...(giant && { giant: { ...giant, price: PRICE } }),
  }),
);

const model = (name: string, changes: object) => ({
  provider: 'openai' as const,
  model: name,
  baseUrl: `${stage.providers.url}/v1`,
  apiKeyEnv: 'POOL_KEY',
  ...changes,
});

const configure = (changes: object): Promise<void> =>
  stage.configure({
    conductors: { frontier: model('frontier', changes) },
    baselines: [{ id: 'giant', ...model('giant', changes) }],
  });

const EVAL = ['eval', 'questions.jsonl', '--trust', '--max-cost', '1', '--methods'];
const BESIDE = 'conductor,conductor:frontier,worker:giant,worker:scholar';

test('a further Conductor and a baseline appear in one table, at their own prices', async () => {
  await configure({ price: PRICE });
  const { code, stderr } = await stage.run([...EVAL, BESIDE, '--out', 'found']);
  expect({ code, stderr }).toMatchObject({ code: 0 });
  const results = await stage.results('found');
  const sums = (name: string): number =>
    stage.providers.log.reduce((sum, call) => sum + (call.model === name ? (call.nanoUsd ?? NaN) : 0), 0);
  const spent = (method: string): number =>
    results.reduce(
      (sum, record) => sum + (record.method === method ? (record.planning.nanoUsd ?? NaN) : 0),
      0,
    );
  expect(spent('conductor:frontier')).toBe(sums('frontier'));
  expect(spent('conductor')).toBe(sums('conductor'));
  expect(sums('giant')).toBeGreaterThan(0);
  const report = await readFile(join(stage.folder.path, 'found', 'report.md'), 'utf8');
  expect(report).toMatch(/\| conductor:frontier \| frontier \|.*\| 3 in, 15 out \|/);
  expect(report).toMatch(/\| baseline giant \| giant \|.*\| 3 in, 15 out \|/);
  expect(report).toMatch(/worker:scholar, the best single worker/);
  expect(PRICES.conductor).not.toEqual(PRICE);
}, 120_000);

test('nothing starts if a model that a method asks has no price or no key', async () => {
  await configure({});
  const unpriced = await stage.run([...EVAL, BESIDE]);
  const lacking = 'conductor:frontier, baseline giant have no known price; add "price: { input, output }"';
  expect(unpriced).toMatchObject(endedWith(2, lacking));
  await configure({ price: PRICE, apiKeyEnv: 'OTHER_KEY' });
  const locked = await stage.run([...EVAL, BESIDE]);
  expect(locked).toMatchObject(endedWith(2, 'OTHER_KEY'));
  // A model that no method asks needs neither price nor key.
  const alone = await stage.run([...EVAL, 'worker:scholar']);
  expect(alone).toMatchObject({ code: 0 });
  expect(new Set(stage.providers.log.map((call) => call.model))).toEqual(new Set(['scholar']));
}, 120_000);

test('unpriced tokens of a trained Conductor are reported before and after, and the report names its checkpoint', async () => {
  const policy = await startScriptedPolicy('nightly-000001');
  try {
    policy.script(renderPlan({ steps: [step('clerk', 'Answer it.')] }, Object.keys(WORKERS)));
    const store = openStore('sqlite:.conductor/store.db', stage.folder.path);
    await writeManifest(store, aManifest({ servers: [policy.baseUrl] }));
    const small = { provider: 'policy', checkpoint: 'nightly/000001' } as const;
    await stage.configure({ conductors: { small } });
    const methods = [...EVAL, 'conductor:small,worker:clerk', '--out', 'found'];
    const { code, stderr } = await stage.run(methods);
    expect({ code, stderr }).toMatchObject({ code: 0 });
    expect(stderr.split(FREE_TOKENS)).toHaveLength(3);
    expect(stderr).toMatch(/^Tokens of a trained Conductor are booked at no cost.* calls, about \$\S+\n/s);
    const report = await readFile(join(stage.folder.path, 'found', 'report.md'), 'utf8');
    expect(report.split('booked at no cost')).toHaveLength(2);
    expect(report).toMatch(/\| conductor:small \| nightly\/000001 \| policy \| 0\.2 \|/);
    await stage.configure({ conductors: { small: { ...small, price: { input: 0.56, output: 0.56 } } } });
    expect((await stage.run(methods)).stderr).not.toContain('booked at no cost');
  } finally {
    await policy.close();
  }
}, 120_000);

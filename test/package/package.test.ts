import { randomUUID } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Client } from '@temporalio/client';
import { msToTs } from '@temporalio/common/lib/time';
import { stringify } from 'yaml';
import { z } from 'zod';
import { renderPlan } from '../../src';
import { readConfigFile } from '../../src/config/load';
import { resolveRun } from '../../src/config/resolve-run';
import { type SimulatedProviders, startSimulatedProviders } from '../../src/testing';
import { TEST_KEY } from '../support/search-for-secrets';
import { step } from '../support/stage';
import { connect, type TestTemporal } from '../support/temporal';
import { startExampleWorker } from './example-worker';
import { EXAMPLES, installExamples, npm } from './project';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'package-'));
  await installExamples(folder);
}, 300_000);
afterAll(() => rm(folder, { recursive: true }));

test('npm finds no conflict among the peers, and Temporal has one copy of each part it shares', async () => {
  await npm(folder, ['ls', '--all']);

  const found = await npm(folder, ['query', '[name="protobufjs"], [name="@temporalio/common"]']);
  const copies = z.array(z.object({ version: z.string(), location: z.string() })).parse(JSON.parse(found));
  // Version 7 belongs to others, which keep it to themselves.
  const shared = copies.filter(({ version }) => !version.startsWith('7.')).map(({ location }) => location);
  expect(shared.sort()).toEqual(['node_modules/@temporalio/common', 'node_modules/protobufjs']);
});

test('the package holds what it needs, and nothing of the machine that built it', async () => {
  const installed = join(folder, 'node_modules', 'temporal-conductor');
  const files = await readdir(installed, { recursive: true, withFileTypes: true });

  expect(await readdir(installed)).toEqual(
    expect.arrayContaining([
      'CHANGELOG.md',
      'LICENSE',
      'README.md',
      'lib',
      'package.json',
      'profiles',
      'src',
    ]),
  );
  // npm may nest a dependency of which another package wants another version.
  const own = (await readdir(installed)).filter((name) => name !== 'node_modules');
  expect(own).toHaveLength(7);
  const bundleOf = (name: string): Promise<string> => readFile(join(installed, 'lib', name), 'utf8');
  expect(await bundleOf('training-bundle.js')).toContain('conductorTrain');
  expect(await bundleOf('workflow-bundle.js')).not.toContain('conductorTrain');
  for (const file of files.filter((entry) => entry.isFile())) {
    const path = join(file.parentPath, file.name);
    expect(path).not.toMatch(/\.(test\.[jt]s|env|pem|key|tgz)$/);
    expect([path, placesIn(await readFile(path, 'utf8'))]).toEqual([path, []]);
  }
});

describe('an example, installed from the package', () => {
  let temporal: TestTemporal;
  let providers: SimulatedProviders;
  beforeAll(async () => {
    [temporal, providers] = await Promise.all([connect(), startSimulatedProviders()]);
  });
  afterAll(() => Promise.all([temporal.close(), providers.close()]));

  test.each(EXAMPLES)('%s: worker and client solve a question, and greet runs on', async (example) => {
    const project = join(folder, example);
    const namespace = await openNamespace(temporal);
    const env = {
      TEMPORAL_ADDRESS: temporal.address,
      TEMPORAL_NAMESPACE: namespace,
      OPENAI_API_KEY: TEST_KEY,
    };
    const model = await redirectModels(join(project, 'conductor.yaml'), `${providers.url}/v1`);
    const steps = [step('handbook', 'Hours on Saturday?'), step('writer', 'Answer kindly.', [0])];
    providers.script(model, [renderPlan({ steps }, ['handbook', 'writer']), 'Come between 10 and 14!']);

    await npm(project, ['run', 'build', '--if-present']);
    const worker = startExampleWorker(project, { PATH: process.env.PATH, ...env });
    const client = new Client({ connection: temporal.client.connection, namespace });
    const answered = Promise.all([
      npm(project, ['run', '--silent', 'ask', '--', 'When do you open on Saturday?'], env),
      client.workflow.execute('greet', { workflowId: 'greet', taskQueue: 'conductor', args: ['Ada'] }),
    ]);

    expect(await Promise.race([answered, worker.broken])).toEqual([
      'Come between 10 and 14!\n',
      'Hello, Ada!',
    ]);
    expect(providers.log.at(-1)?.body).toContain('Saturday: from 10 to 14');
    expect(await worker.stop()).toBe(0);
  });
});

/** A namespace for one example alone: its task queue has the same name as that of everybody who copied it. */
async function openNamespace({ client }: TestTemporal): Promise<string> {
  const namespace = `example-${randomUUID()}`;
  await client.workflowService.registerNamespace({
    namespace,
    workflowExecutionRetentionPeriod: msToTs('1 day'),
  });
  return namespace;
}

/** Sends the models of a configuration to a server of the test; gives the name of the Conductor's. */
async function redirectModels(path: string, baseUrl: string): Promise<string> {
  const config = readConfigFile(path);
  const redirect = <Card extends { provider: string }>(card: Card): Card =>
    card.provider === 'openai' ? { ...card, baseUrl } : card;
  const { conductor, workers } = config;
  const redirected = { ...config, conductor: redirect(conductor), workers: workers.map(redirect) };
  await writeFile(path, stringify(redirected));
  return resolveRun(config).conductor.model;
}

const PLACES = [resolve(__dirname, '..', '..'), homedir()];

/** Absolute paths of this machine in a file, or in a source map inside of it. */
function placesIn(text: string): string[] {
  const inlined = [...text.matchAll(/;base64,([A-Za-z0-9+/=]+)/g)].map(([, map = '']) => atob(map));
  return [text, ...inlined].flatMap((part) =>
    PLACES.filter((place) => new RegExp(`(?<![\\w.])${place}/`).test(part)),
  );
}

import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { Client } from '@temporalio/client';
import { stringify } from 'yaml';
import { z } from 'zod';
import { renderPlan } from '../../src';
import { readGivenConfig } from '../../src/config/load';
import { resolveRun } from '../../src/config/resolve-run';
import { type SimulatedProviders, startSimulatedProviders } from '../../src/testing';
import { freshFolder } from '../local/fresh-folder';
import { TEST_KEY } from '../support/search-for-secrets';
import { step } from '../support/stage';
import { connect, openNamespace, type TestTemporal } from '../support/temporal';
import { startExampleWorker } from './example-worker';
import { EXAMPLES, installExamples, npm } from './project';

let folder: string;
beforeAll(async () => {
  folder = await freshFolder();
  await installExamples(folder);
}, 300_000);

/** Runs the installed command line. */
const command = (...args: string[]) =>
  promisify(execFile)(join(folder, 'node_modules', '.bin', 'temporal-conductor'), args, { cwd: folder });

test('npm finds no peer conflicts, and there is one copy of each part shared with Temporal', async () => {
  await npm(folder, ['ls', '--all']);

  const found = await npm(folder, ['query', '[name="protobufjs"], [name="@temporalio/common"]']);
  const copies = z.array(z.object({ version: z.string(), location: z.string() })).parse(JSON.parse(found));
  // Version 7 is a private dependency of other packages.
  const shared = copies.filter(({ version }) => !version.startsWith('7.')).map(({ location }) => location);
  expect(shared.sort()).toEqual(['node_modules/@temporalio/common', 'node_modules/protobufjs']);
});

test('the package contains what it needs, and no traces of the machine that built it', async () => {
  const installed = join(folder, 'node_modules', 'temporal-conductor');
  const entries = await readdir(installed, { recursive: true, withFileTypes: true });

  // npm may nest a dependency that another package wants in another version.
  const own = (await readdir(installed)).filter((name) => name !== 'node_modules');
  const folders = ['deploy', 'docker', 'docs', 'examples', 'lib', 'profiles', 'src'];
  const files = [
    'ARCHITECTURE.md',
    'CHANGELOG.md',
    'CONTRIBUTING.md',
    'LICENSE',
    'README.md',
    'SECURITY.md',
    'package.json',
  ];
  expect(own.sort()).toEqual([...folders, ...files].sort());
  expect(await readFile(join(installed, 'lib', 'workflow-bundle.js'), 'utf8')).toContain('conductorTrain');
  for (const file of entries.filter((entry) => entry.isFile())) {
    const path = join(file.parentPath, file.name);
    expect(path).not.toMatch(/\.(test\.[jt]s|env|pem|key|tgz)$/);
    expect([path, placesIn(await readFile(path, 'utf8'))]).toEqual([path, []]);
  }
});

test('a local model asks for its engine, a separate package, before a run begins', async () => {
  const model = { provider: 'local', model: 'smollm2' };
  const local = { conductor: model, workers: [{ id: 'small', ...model }] };
  await writeFile(join(folder, 'local.yaml'), stringify(local));
  const config = ['--config', 'local.yaml'];
  await expect(command('solve', 'Where?', ...config)).rejects.toMatchObject({
    code: 2,
    stderr: expect.stringMatching(
      /^temporal-conductor: provider "local", .* has no engine: "npm install node-llama-cpp@3" installs it; .*\n$/,
    ) as string,
  });
  await expect(command('doctor', ...config)).rejects.toMatchObject({
    code: 1,
    stdout: expect.stringContaining(
      '✗ Local engine    node-llama-cpp is not installed; provider "local" needs it: "npm install node-llama-cpp@3" installs it',
    ) as string,
  });
}, 60_000);

test('CSV is read as it is, and Parquet asks for the separate packages that read it', async () => {
  await writeFile(join(folder, 'questions.csv'), 'question,answer\nWhy?,x\n');
  await expect(command('data', 'inspect', 'questions.csv')).resolves.toMatchObject({
    stdout: expect.stringContaining('CSV') as string,
  });
  await writeFile(join(folder, 'questions.parquet'), 'PAR1');
  const packages = 'npm install hyparquet@1 hyparquet-compressors@1';
  const stderr = `temporal-conductor: questions.parquet is Parquet, which needs a package: run "${packages}"\n`;
  await expect(command('data', 'inspect', 'questions.parquet')).rejects.toMatchObject({ code: 2, stderr });
});

test('its documents link only to files in the package', async () => {
  const installed = join(folder, 'node_modules', 'temporal-conductor');
  const files = await readdir(installed, { recursive: true });
  const documents = files.filter((file) => file.endsWith('.md') && !file.includes('node_modules'));
  expect(documents).toEqual(expect.arrayContaining(['README.md', join('docs', 'plugin.md')]));

  const dead = await Promise.all(
    documents.map(async (document) => {
      const links = linksIn(await readFile(join(installed, document), 'utf8'));
      return links.filter((link) => !existsSync(join(installed, dirname(document), link)));
    }),
  );
  const found = documents.flatMap((document, at) => (dead[at] ?? []).map((link) => `${document}: ${link}`));
  expect(found).toEqual([]);
});

test('strict TypeScript finds no errors of ours in any declaration', async () => {
  const file = join(folder, 'strict.ts');
  const doors = ['', '/workflows', '/grading', '/testing', '/training', '/training/workflows'];
  const imports = doors.map((door, at) => `import * as door${at} from 'temporal-conductor${door}';`);
  const uses = doors.map((_, at) => `door${at}`).join(', ');
  await writeFile(file, `${imports.join('\n')}\nconsole.log(${uses});\n`);

  const options = '--noEmit --strict --exactOptionalPropertyTypes --skipLibCheck false --module node20';
  const root = resolve(__dirname, '..', '..', 'node_modules');
  const types = ['--types', 'node', '--typeRoots', join(root, '@types')];
  const compiler = join(root, '@typescript', 'native', 'bin', 'tsc');
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [compiler, ...options.split(' '), '--target', 'es2022', ...types, file],
    { cwd: folder },
  ).catch((error: unknown) => z.object({ stdout: z.string() }).parse(error));
  // Temporal's own declarations have errors, which do not count.
  const faults = stdout.split('\n').filter((line) => /^\S.*error TS/.test(line));
  expect(faults.filter((fault) => !fault.startsWith('node_modules/@temporalio/'))).toEqual([]);
}, 300_000);

describe('an example, installed from the package', () => {
  let temporal: TestTemporal;
  let providers: SimulatedProviders;
  beforeAll(async () => {
    [temporal, providers] = await Promise.all([connect(), startSimulatedProviders()]);
  });
  afterAll(() => Promise.all([temporal.close(), providers.close()]));

  test.each(EXAMPLES)('%s: one command answers without a key', async (example) => {
    const TEMPORAL_NAMESPACE = await openNamespace(temporal);
    const env = { TEMPORAL_ADDRESS: temporal.address, TEMPORAL_NAMESPACE, OPENAI_API_KEY: '' };
    const ask = ['start', '--silent', '--', 'When do you open?'];
    const written = await npm(join(folder, example), ask, env);
    expect(written).toBe('Come by on Saturday between 10 and 14!\n');
  });

  test.each(EXAMPLES)(
    '%s: worker and client solve a question, and the workflow greet still runs',
    async (example) => {
      const project = join(folder, example);
      const namespace = await openNamespace(temporal);
      const server = { TEMPORAL_ADDRESS: temporal.address, TEMPORAL_NAMESPACE: namespace };
      const env = { ...server, OPENAI_API_KEY: TEST_KEY };
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

      const answers = ['Come between 10 and 14!\n', 'Hello, Ada!'];
      expect(await Promise.race([answered, worker.broken])).toEqual(answers);
      expect(providers.log.at(-1)?.body).toContain('Saturday: from 10 to 14');
      expect(await worker.stop()).toBe(0);
    },
  );
});

/** Points the models of a configuration at the test's server; returns the Conductor's model. */
async function redirectModels(path: string, baseUrl: string): Promise<string> {
  const config = readGivenConfig(path);
  const redirect = <Card extends { provider: string }>(card: Card): Card =>
    card.provider === 'openai' ? { ...card, baseUrl } : card;
  const { conductor, workers } = config;
  const redirected = { ...config, conductor: redirect(conductor), workers: workers.map(redirect) };
  await writeFile(path, stringify(redirected));
  return resolveRun(config).conductor.model;
}

/** Returns a document's links into its own package, except those in code. */
function linksIn(text: string): string[] {
  const prose = text.replace(/^```[^]*?^```/gm, '').replace(/`[^`\n]*`/g, '');
  const links = [...prose.matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => link);
  return links
    .filter((link) => !/^(?:[a-z]+:|#)/.test(link))
    .map((link) => decodeURI(link.replace(/#.*/, '')));
}

const PLACES = [resolve(__dirname, '..', '..'), homedir()];

/** Returns this machine's absolute paths in a file or in its inline source maps. */
function placesIn(text: string): string[] {
  const inlined = [...text.matchAll(/;base64,([A-Za-z0-9+/=]+)/g)].map(([, map = '']) => atob(map));
  return [text, ...inlined].flatMap((part) =>
    PLACES.filter((place) => new RegExp(`(?<![\\w.])${place}/`).test(part)),
  );
}

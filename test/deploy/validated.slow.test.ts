import { execFile } from 'node:child_process';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ROOT } from '../newcomer/pages';
import { disagreementsOf } from './disagreements';
import { readManifests } from './manifests';

jest.setTimeout(240_000);

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'deploy-'));
  await cp(join(ROOT, 'deploy'), folder, { recursive: true });
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const check = (...options: string[]): Promise<{ readonly stdout: string }> =>
  promisify(execFile)(process.execPath, [join(ROOT, 'scripts/check-deploy.mjs'), ...options, folder]);

async function change(file: string, from: string, to: string): Promise<void> {
  const path = join(folder, file);
  const text = await readFile(path, 'utf8');
  expect(text).toContain(from);
  await writeFile(path, text.replace(from, to));
}

test('Kubernetes knows every field, and what the chart renders is what the product does', async () => {
  const rendered = join(folder, 'rendered.yaml');
  const { stdout } = await check('--rendered', rendered);
  expect(stdout).toContain('worker-deployment.yaml: 1 valid\nworker.yaml: 2 valid');
  if (stdout.includes('there is no helm')) {
    console.warn('The chart is not rendered: "npm run deploy:check" builds the helm that this test needs.');
    return;
  }
  expect(stdout).toContain('chart as it is: 6 valid\nchart with other values: 6 valid');
  const pods = readManifests(await readFile(rendered, 'utf8')).flatMap(({ spec }) => spec?.template ?? []);
  expect(pods.map(disagreementsOf)).toEqual([[], []]);
});

test.each([
  ['worker.yaml', 'livenessProbe', 'livenesProbe'],
  ['worker-deployment.yaml', 'runAsNonRoot: true', 'runAsNonRoot: maybe'],
])('%s with %s mistaken is refused, and named', async (file, from, to) => {
  await change(`kubernetes/${file}`, from, to);
  await expect(check()).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringContaining(`${file}: `) as string,
  });
});

import { execFile, execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { ROOT } from '../newcomer/pages';

jest.setTimeout(180_000);

const LABEL = 'FROM x\nLABEL org.opencontainers.image.version="1.2.3"\n';
const MANIFEST = { name: 'temporal-conductor', version: '1.2.3', files: ['lib'] };
const LOCK = { ...MANIFEST, packages: { '': { name: MANIFEST.name, version: '1.2.3' } } };
const bill = (version: string): string => JSON.stringify({ metadata: { component: { version } } });

/** Everything that a release is made of, in little. */
const FILES: Readonly<Record<string, string>> = {
  'package.json': JSON.stringify(MANIFEST),
  'package-lock.json': JSON.stringify(LOCK, null, 2),
  'lib/index.js': 'exports.answer = 42;\n',
  'trainer/pyproject.toml': 'version = "1.2.3"\n',
  'deploy/chart/Chart.yaml': 'version: 1.2.3\nappVersion: 1.2.3\n',
  'deploy/kubernetes/worker.yaml': 'image: temporal-conductor:1.2.3\n',
  'docker/Dockerfile': LABEL,
  'docker/trainer.Dockerfile': LABEL,
  'CHANGELOG.md': '# Changelog\n\n## 1.2.3 (2026-12-01)\n',
  '.gitignore': 'dist\n',
  'dist/temporal-conductor-1.2.3.cdx.json': bill('1.2.3'),
  'dist/temporal_conductor_trainer-1.2.3.cdx.json': bill('1.2.3'),
};
const PACKAGE = 'dist/temporal-conductor-1.2.3.tgz';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'release-'));
  for (const [file, text] of Object.entries(FILES)) await write(file, text);
  commit();
  git('tag', 'v1.2.3');
  execFileSync('npm', ['pack', '--silent', '--pack-destination', 'dist'], { cwd: folder });
});
afterEach(() => rm(folder, { recursive: true, force: true }));

async function write(file: string, text: string): Promise<void> {
  const path = join(folder, file);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text);
}

const git = (...args: string[]): Buffer => execFileSync('git', args, { cwd: folder });

/** Commits what there is, so that a change of a file is one disagreement alone; a tag stays at its commit. */
function commit(): void {
  git('init', '--quiet');
  git('add', '--all');
  const author = ['-c', 'user.name=test', '-c', 'user.email=test@example.com'];
  git(...author, 'commit', '--quiet', '--message=A release');
}

/** Returns what `release:check` says, a line each. */
async function check(): Promise<string[]> {
  const script = join(ROOT, 'scripts/check-release.mjs');
  const said = await promisify(execFile)(process.execPath, [script, folder]).catch(
    (error: unknown) => error as { readonly stdout: string; readonly stderr: string },
  );
  return `${said.stdout}${said.stderr}`.trim().split('\n');
}

test('a release whose parts agree can be published', async () => {
  expect(await check()).toEqual(['temporal-conductor 1.2.3 can be published.']);
});

test('each disagreement is one sentence', async () => {
  const changes = [
    ['package-lock.json', '"version": "1.2.3"', '"version": "1.2.2"'],
    ['trainer/pyproject.toml', '1.2.3', '1.2.4'],
    ['deploy/chart/Chart.yaml', 'appVersion: 1.2.3', 'app: 1.2.2'],
    ['deploy/kubernetes/worker.yaml', '1.2.3', 'latest'],
    ['docker/Dockerfile', '1.2.3', '1.2.2'],
    ['docker/trainer.Dockerfile', LABEL, 'FROM x\n'],
    ['CHANGELOG.md', '1.2.3 (2026-12-01)', 'Unreleased'],
    ['dist/temporal-conductor-1.2.3.cdx.json', '1.2.3', '1.2.2'],
  ] as const;
  for (const [file, from, to] of changes) {
    const text = await readFile(join(folder, file), 'utf8');
    expect(text).toContain(from);
    await write(file, text.replace(from, to));
  }
  commit();
  git('tag', '--force', 'v1.2.3');
  expect(await check()).toEqual([
    'package-lock.json says version 1.2.2, package.json 1.2.3.',
    'trainer/pyproject.toml says version 1.2.4, package.json 1.2.3.',
    'deploy/chart/Chart.yaml says its version 1 times, package.json 1.2.3.',
    'docker/Dockerfile says version 1.2.2, package.json 1.2.3.',
    'docker/trainer.Dockerfile says its version 0 times, package.json 1.2.3.',
    'deploy/kubernetes/worker.yaml says version latest, package.json 1.2.3.',
    'CHANGELOG.md begins with "Unreleased", not with 1.2.3: name there what this version brings.',
    'dist/temporal-conductor-1.2.3.cdx.json is the bill of version 1.2.2, package.json says 1.2.3.',
  ]);
});

test('a commit without its tag, files that were changed since, and a package of other files are told', async () => {
  git('tag', '--delete', 'v1.2.3');
  await write('lib/index.js', 'exports.answer = 43;\n');
  expect(await check()).toEqual([
    'No tag v1.2.3 is at this commit: "git tag v1.2.3" sets it.',
    'Files differ from the commit: M lib/index.js.',
    `${PACKAGE} is not what npm would publish of these files now: run "npm run package" again.`,
  ]);
});

test('what was not packed is told', async () => {
  await rm(join(folder, 'dist'), { recursive: true });
  expect(await check()).toEqual(
    [PACKAGE, 'dist/temporal-conductor-1.2.3.cdx.json', 'dist/temporal_conductor_trainer-1.2.3.cdx.json'].map(
      (file) => `${file} is missing: "npm run package" makes it.`,
    ),
  );
});

import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ROOT } from '../newcomer/pages';
import { type Listening, serve } from '../support/serve';

const run = promisify(execFile);

let folder: string;
let registry: Listening;
/** Versions of the one package that the registry has, in order. */
let versions: Record<string, Buffer>;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'install-'));
  versions = {};
  registry = await serve((request, response) => {
    const tarball = versions[/-(\d\.\d\.\d)\.tgz$/.exec(request.url ?? '')?.[1] ?? ''];
    if (tarball !== undefined) return response.end(tarball);
    return response.end(JSON.stringify(packument()));
  });
  await mkdir(join(folder, 'scripts'));
  await cp(join(ROOT, 'scripts', 'install.mjs'), join(folder, 'scripts', 'install.mjs'));
});
afterEach(async () => {
  await registry.close();
  await rm(folder, { recursive: true });
});

function packument() {
  const entries = Object.keys(versions).map((version) => {
    const tarball = `${registry.url}/part/-/part-${version}.tgz`;
    return [version, { name: 'part', version, dist: { tarball, integrity: integrityOf(version) } }] as const;
  });
  const latest = Object.keys(versions).at(-1);
  return { name: 'part', 'dist-tags': { latest }, versions: Object.fromEntries(entries) };
}

function integrityOf(version: string): string {
  const hash = createHash('sha512').update(versions[version] ?? '');
  return `sha512-${hash.digest('base64')}`;
}

async function publish(version: string): Promise<void> {
  const source = await mkdtemp(join(folder, 'part-'));
  await writeFile(join(source, 'package.json'), JSON.stringify({ name: 'part', version }));
  await run('npm', ['pack', '--silent', `--pack-destination=${source}`], { cwd: source });
  versions[version] = await readFile(join(source, `part-${version}.tgz`));
}

/** Writes a lock that names no address, as this repository's does, and installs what it names. */
async function install(version: string): Promise<string> {
  const root = { name: 'whole', version: '1.0.0', dependencies: { part: version } };
  const packages = { '': root, 'node_modules/part': { version, integrity: integrityOf(version) } };
  const lock = { name: 'whole', version: '1.0.0', lockfileVersion: 3, requires: true, packages };
  await writeFile(join(folder, 'package.json'), JSON.stringify(root));
  await writeFile(join(folder, 'package-lock.json'), JSON.stringify(lock));
  const env = {
    ...process.env,
    npm_config_cache: join(folder, 'cache'),
    npm_config_registry: registry.url,
  };
  const script = "import('./scripts/install.mjs').then(({ installPackages }) => installPackages('.'))";
  const { stderr } = await run(process.execPath, ['-e', script], { cwd: folder, env });
  const installed = await readFile(join(folder, 'node_modules', 'part', 'package.json'), 'utf8');
  expect(JSON.parse(installed)).toMatchObject({ version });
  return stderr;
}

test('a lock that is newer than what npm keeps of the registry is installed, and nothing is told of that', async () => {
  await publish('1.0.0');
  await install('1.0.0');
  await publish('2.0.0');
  expect(await install('2.0.0')).not.toMatch(/error|ETARGET/i);
});

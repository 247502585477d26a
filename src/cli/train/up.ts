import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { delimiter, isAbsolute, join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { OWN_FOLDER } from '../../runtime/own-folder';
import { DRAIN_MS, serveHere, type ServeOptions } from '../serve/serve';
import type { ExitCode } from '../kit/ending';
import { UsageError } from '../../errors';
import type { Session } from '../kit/session';
import { loadSettings } from '../kit/load-settings';
import { isLoggedAsJson } from '../kit/log-form';
import type { Supervised } from '../kit/supervise';
import { say } from '../kit/terminal';
import { readStoreUrl } from '../../config/store-url';
import { holderOf, lockFile } from '../../local/file-lock';
import { cacheFolder } from '../../local/downloads';
import { findProgram, startProgram } from '../../runtime/start-program';
import { type TrainingConfig, trainingOf } from '../../training/config';
import { serversOf } from '../../training/names';
import { askHealth } from './night-parts';

/** Command of the trainer's Python programs on this machine, without their options. */
interface Trainer {
  readonly file: string;
  readonly argsOf: (program: 'worker' | 'policy-server') => readonly string[];
  readonly env: NodeJS.ProcessEnv;
}

/** `train up`: runs all that nights need on one machine, once per folder: two trainers would share its checkpoints. */
export async function trainUp(options: ServeOptions): Promise<ExitCode> {
  const training = trainingOf(await loadSettings(options));
  requireBase(training);
  const python = findTrainer();
  const path = join(OWN_FOLDER, 'train-up.lock');
  const held = await lockFile(path);
  if (held === null) {
    const holder = await holderOf(path);
    throw new UsageError(
      `"train up" runs in this folder already, in process ${holder}: use that one, or stop it first ("kill ${holder}")`,
    );
  }
  try {
    const policies = await policiesOf(training, python);
    return await serveHere(options, 'train up', (session) => {
      say('Waiting for the worker and for Python, whose libraries take some seconds to load …');
      return [trainerOf(session, training, python), ...policies];
    });
  } finally {
    await held.close();
  }
}

function requireBase({ base }: TrainingConfig): void {
  if (base.kind !== 'folder' || existsSync(base.path)) return;
  throw new UsageError(
    `training.base.path is ${base.path}, and there is no such folder: put a model of the Hugging Face hub there, ` +
      `e.g. with "hf download NAME --local-dir ${base.path}", or name its folder`,
  );
}

/** Folder of exports, below the working directory. */
const EXPORTS = 'exported';

function trainerOf({ config, server }: Session, training: TrainingConfig, python: Trainer): Supervised {
  const { base, checkpoints, policy, trainer } = training;
  const { encryption } = config;
  const options = [
    serversOf(policy).flatMap((server) => ['--allow-server', server]),
    ['--export-root', resolve(EXPORTS)],
    base.kind === 'folder' ? ['--base-root', resolve(base.path)] : [],
    ['--task-queue', trainer.taskQueue],
    ['--namespace', server.namespace],
    encryption === undefined ? [] : ['--encryption-key-env', encryption.keyEnv],
    encryption?.strict === true ? ['--encryption-strict'] : [],
    ['--drain-seconds', `${DRAIN_MS / 1000}`],
  ].flat();
  const env = server.embedded ? { TEMPORAL_ADDRESS: server.address } : {};
  return {
    name: 'trainer',
    start: starting(python, 'worker', training, options, {
      line: `Trainer     task queue ${trainer.taskQueue}, checkpoints below ${checkpoints}, exports below ${EXPORTS}`,
      env,
    }),
  };
}

/**
 * Starts a program that writes a line to stdout once it is ready and ends when its stdin closes. It gets its own
 * process group, so that Ctrl-C in a terminal reaches only this process, which then decides what to stop.
 */
function starting(
  { file, argsOf, env }: Trainer,
  program: 'worker' | 'policy-server',
  { artifacts, checkpoints, trainer }: TrainingConfig,
  options: readonly string[],
  { line, env: more = {} }: { readonly line: string; readonly env?: NodeJS.ProcessEnv },
): Supervised['start'] {
  // Trainer and policy server share the artifacts and the folder of local checkpoint copies.
  const place = readStoreUrl(artifacts) === null ? resolve(artifacts) : artifacts;
  const places = ['--artifacts', place, '--checkpoints', resolve(checkpoints)];
  const args = [...argsOf(program), ...options, ...places, '--end-with-stdin'];
  // One thread on a CPU: a tiny model loses more time to a second one than it gains.
  const threads = trainer.device === 'cpu' ? { OMP_NUM_THREADS: '1' } : {};
  return (sayReady) => {
    const child = startProgram(file, args, {
      // Options may name files relative to the working directory.
      cwd: process.cwd(),
      env: { ...threads, ...env, ...more },
      passes: 'all',
      detached: true,
      stdio: ['pipe', 'pipe', isLoggedAsJson() ? 'pipe' : 'inherit'],
    });
    if (child.stderr !== null)
      createInterface({ input: child.stderr }).on('line', (line) => {
        say(line);
      });
    if (child.stdout !== null)
      createInterface({ input: child.stdout }).once('line', () => {
        sayReady(line);
      });
    return child;
  };
}

/** Returns our policy servers for CPUs: one for each configured address of this machine where nothing answers. */
async function policiesOf(training: TrainingConfig, python: Trainer): Promise<Supervised[]> {
  const servers = serversOf(training.policy).map((server) => policyOf(server, training, python));
  return (await Promise.all(servers)).flat();
}

async function policyOf(baseUrl: string, training: TrainingConfig, python: Trainer): Promise<Supervised[]> {
  const { hostname, port } = new URL(baseUrl);
  const isHere = ['127.0.0.1', 'localhost'].includes(hostname);
  const answers = (await askHealth(baseUrl, 2_000))?.ok === true;
  if (answers || !isHere || training.trainer.device !== 'cpu') {
    const missing = answers ? '' : ', where nothing answers yet: start vLLM there, see docs/training.md';
    say(`Policies    ${baseUrl}, a server that was started elsewhere${missing}`);
    return [];
  }
  const address = ['--host', hostname, '--port', port === '' ? '80' : port];
  const line = `Policies    ${baseUrl}, on this machine's processor`;
  return [{ name: 'policy server', start: starting(python, 'policy-server', training, address, { line }) }];
}

const PACKAGE = 'temporal-conductor-trainer';

/** Trainer sources in a checkout of the repository; the npm package does not contain them. */
const SOURCES = resolve(__dirname, '../../../trainer');

/** Finds `TRAINER_PYTHON`, else the installed script, else these sources. @throws UsageError with how to install it */
function findTrainer(): Trainer {
  const { env } = process;
  const hasSources = existsSync(join(SOURCES, 'requirements.lock'));
  const chosen = env.TRAINER_PYTHON === '' ? undefined : env.TRAINER_PYTHON;
  const script = chosen === undefined ? findScript(env) : null;
  if (script !== null) return { file: script, argsOf: (program) => [program], env: withModules(env) };
  const python = chosen ?? (hasSources ? preparedPython(env) : '');
  if (isAbsolute(python) && existsSync(python)) {
    const argsOf: Trainer['argsOf'] = (program) => ['-m', `conductor_trainer.${program.replace('-', '_')}`];
    return { file: python, argsOf, env: withModules(env, hasSources) };
  }
  if (chosen !== undefined) {
    throw new UsageError(
      `TRAINER_PYTHON is ${chosen}, which is no absolute path of a file that is there: correct it, or unset it`,
    );
  }
  const remedy = hasSources
    ? `make its Python environment with "node ${resolve(SOURCES, '../scripts/prepare-trainer.mjs')}" (5 GB, once)`
    : `install the Python package ${PACKAGE} into an environment, and put that on the PATH (see docs/trainer.md)`;
  throw new UsageError(`the trainer is not installed: ${remedy}`);
}

/** Keeps Python from importing untrusted modules of the working directory; isolated mode would hide the sources. */
function withModules(env: NodeJS.ProcessEnv, hasSources = false): NodeJS.ProcessEnv {
  const own = (env.PYTHONPATH ?? '').split(delimiter).filter(isAbsolute).join(delimiter);
  const PYTHONPATH = hasSources ? join(SOURCES, 'src') : own === '' ? undefined : own;
  return { ...env, PYTHONSAFEPATH: '1', PYTHONHOME: undefined, PYTHONPATH };
}

/** Returns the Python of the cached environment, which all checkouts with the same lock files share. */
function preparedPython(env: NodeJS.ProcessEnv): string {
  const hash = createHash('sha256');
  for (const lock of ['requirements.lock', 'requirements-dev.lock']) {
    hash.update(readFileSync(join(SOURCES, lock)));
  }
  return join(cacheFolder(env), `trainer-${hash.digest('hex').slice(0, 12)}`, 'bin', 'python');
}

function findScript(env: NodeJS.ProcessEnv): string | null {
  const environment = env.VIRTUAL_ENV ?? '';
  const PATH = join(environment, process.platform === 'win32' ? 'Scripts' : 'bin');
  return (environment === '' ? null : findProgram(PACKAGE, { PATH })) ?? findProgram(PACKAGE, env);
}

import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { delimiter, dirname, isAbsolute, join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { UsageError } from '../../errors';
import { readStoreUrl } from '../../config/store-url';
import { cacheFolder } from '../../local/downloads';
import { findProgram, startProgram } from '../../runtime/start-program';
import type { TrainingConfig } from '../../training/config';
import { isLoggedAsJson } from '../kit/log-form';
import type { Supervised } from '../kit/supervise';
import { say } from '../kit/terminal';

type ProgramName = 'worker' | 'policy-server' | 'fetching-server' | 'restarting-server' | 'estimate';

/** Command of the trainer's Python programs on this machine, without their options. */
export interface TrainerPrograms {
  readonly file: string;
  /** The Python that runs them. */
  readonly python: string;
  readonly argsOf: (program: ProgramName) => readonly string[];
  readonly env: NodeJS.ProcessEnv;
}

interface ProgramStart {
  /** Line to print once the program is ready. */
  readonly line: string;
  readonly env?: NodeJS.ProcessEnv;
  /** Command that the program runs itself, and ends with. */
  readonly command?: readonly string[];
}

/**
 * Starts a program that writes a line to stdout once it is ready and ends when its stdin closes. It gets its own
 * process group, so that Ctrl-C in a terminal reaches only this process, which then decides what to stop.
 */
export function starting(
  { file, argsOf, env }: TrainerPrograms,
  program: ProgramName,
  { artifacts, checkpoints, trainer }: TrainingConfig,
  options: readonly string[],
  { line, env: more = {}, command = [] }: ProgramStart,
): Supervised['start'] {
  // Trainer and policy server share the artifacts and the folder of local checkpoint copies.
  const place = readStoreUrl(artifacts) === null ? resolve(artifacts) : artifacts;
  const places = ['--artifacts', place, '--checkpoints', resolve(checkpoints)];
  const own = command.length === 0 ? [] : ['--', ...command];
  const args = [...argsOf(program), ...options, ...places, '--end-with-stdin', ...own];
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

const PACKAGE = 'temporal-conductor-trainer';

/** Trainer sources in a checkout of the repository; the npm package does not contain them. */
const SOURCES = resolve(__dirname, '../../../trainer');

/** Finds `TRAINER_PYTHON`, else the installed script, else these sources. @throws UsageError with how to install it */
export function findTrainer(): TrainerPrograms {
  const { env } = process;
  const hasSources = existsSync(join(SOURCES, 'requirements.lock'));
  const chosen = env.TRAINER_PYTHON === '' ? undefined : env.TRAINER_PYTHON;
  const script = chosen === undefined ? findScript(env) : null;
  if (script !== null) {
    const python = pythonBeside(script);
    return { file: script, python, argsOf: (program) => [program], env: withModules(env) };
  }
  const python = chosen ?? (hasSources ? preparedPython(env) : '');
  if (isAbsolute(python) && existsSync(python)) {
    const argsOf: TrainerPrograms['argsOf'] = (program) => [
      '-m',
      `conductor_trainer.${program.replace('-', '_')}`,
    ];
    return { file: python, python, argsOf, env: withModules(env, hasSources) };
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

/** Returns the Python of the environment in which pip has put a script. */
function pythonBeside(script: string): string {
  return join(dirname(script), process.platform === 'win32' ? 'python.exe' : 'python');
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

/**
 * Finds the Python of vLLM: `CONDUCTOR_VLLM`, else the one beside the `vllm` of PATH. It is named by no configuration,
 * since a folder made by a stranger may hold one. @throws UsageError with how to install it
 */
export function findVllm(env: NodeJS.ProcessEnv = process.env): string {
  const chosen = env.CONDUCTOR_VLLM ?? '';
  const script = chosen === '' ? findProgram('vllm', env) : null;
  const python = script === null ? chosen : pythonBeside(script);
  if (isAbsolute(python) && existsSync(python)) return python;
  if (chosen !== '') {
    throw new UsageError(
      `CONDUCTOR_VLLM is ${chosen}, which is no absolute path of a file that is there: name the Python of vLLM, or unset it`,
    );
  }
  throw new UsageError(
    'training.policy.serve names vLLM, which is not installed: "pip install vllm" into an environment of its own, and put ' +
      'that on the PATH, or name its Python in CONDUCTOR_VLLM (see docs/gpu.md)',
  );
}

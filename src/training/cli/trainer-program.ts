import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { delimiter, isAbsolute, join, resolve } from 'node:path';
import { UsageError } from '../../cli/exit-code';
import { cacheFolder } from '../../local/python-package';
import { findProgram } from '../../start-program';

/** The trainer's Python programs that a night needs. */
export type TrainerProgram = 'worker' | 'policy-server';

/** How a program of the trainer is run here, without its options. */
export interface TrainerCommand {
  readonly command: readonly [string, ...string[]];
  readonly env: NodeJS.ProcessEnv;
}

const PACKAGE = 'temporal-conductor-trainer';

/** In a checkout of the repository; the npm package has no such folder. */
const SOURCES = resolve(__dirname, '../../../trainer');

/**
 * Finds the trainer: the Python that `TRAINER_PYTHON` names, the script of the installed package, or the sources of this
 * repository with the environment that `scripts/prepare-trainer.mjs` makes.
 *
 * @throws UsageError that names the command to install it with
 */
export function findTrainer(
  env: NodeJS.ProcessEnv = process.env,
  sources = SOURCES,
): (program: TrainerProgram) => TrainerCommand {
  const hasSources = existsSync(join(sources, 'requirements.lock'));
  const chosen = env.TRAINER_PYTHON === '' ? undefined : env.TRAINER_PYTHON;
  const script = chosen === undefined ? findScript(env) : null;
  if (script !== null) return (program) => ({ command: [script, program], env: withModules(env) });
  const python = chosen ?? (hasSources ? join(trainerEnvironment(sources, env), 'bin', 'python') : '');
  if (!isAbsolute(python) || !existsSync(python)) throw notInstalled(sources, hasSources, chosen);
  return (program) => ({
    command: [python, '-m', `conductor_trainer.${program.replace('-', '_')}`],
    env: withModules(env, hasSources ? join(sources, 'src') : undefined),
  });
}

/**
 * The user's environment, in which Python and the processes it starts load no module of the current folder, which may be a
 * stranger's: an empty or relative entry of PYTHONPATH would mean it. Isolated, they would not find the sources either.
 */
function withModules(env: NodeJS.ProcessEnv, sources?: string): NodeJS.ProcessEnv {
  const own = (env.PYTHONPATH ?? '').split(delimiter).filter(isAbsolute).join(delimiter);
  const PYTHONPATH = sources ?? (own === '' ? undefined : own);
  return { ...env, PYTHONSAFEPATH: '1', PYTHONHOME: undefined, PYTHONPATH };
}

/** Where the environment for these sources lies, once it is made: it serves every checkout that has the same locks. */
function trainerEnvironment(sources: string, env: NodeJS.ProcessEnv = process.env): string {
  const hash = createHash('sha256');
  for (const lock of ['requirements.lock', 'requirements-dev.lock']) {
    hash.update(readFileSync(join(sources, lock)));
  }
  return join(cacheFolder(env), `trainer-${hash.digest('hex').slice(0, 12)}`);
}

function findScript(env: NodeJS.ProcessEnv): string | null {
  const environment = env.VIRTUAL_ENV ?? '';
  const PATH = join(environment, process.platform === 'win32' ? 'Scripts' : 'bin');
  return (environment === '' ? null : findProgram(PACKAGE, { PATH })) ?? findProgram(PACKAGE, env);
}

function notInstalled(sources: string, hasSources: boolean, chosen: string | undefined): UsageError {
  if (chosen !== undefined) {
    const mistake = isAbsolute(chosen) ? 'there is no such file' : 'it is not an absolute path';
    return new UsageError(`TRAINER_PYTHON is ${chosen}, and ${mistake}: correct it, or unset it`);
  }
  if (hasSources) {
    const prepare = join(sources, '..', 'scripts', 'prepare-trainer.mjs');
    return new UsageError(
      `the trainer's Python environment is not installed: make it with "node ${prepare}" (5 GB, once)`,
    );
  }
  return new UsageError(
    `the trainer is not installed: it is the Python package ${PACKAGE}. Make an environment for it ` +
      '("python3 -m venv trainer"), install the wheel into that ' +
      `("trainer/bin/pip install ${PACKAGE.replaceAll('-', '_')}-*.whl"), and put it on the PATH ` +
      '("export PATH=$PWD/trainer/bin:$PATH")',
  );
}

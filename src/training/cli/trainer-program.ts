import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { delimiter, isAbsolute, join, resolve } from 'node:path';
import { UsageError } from '../../cli/exit-code';
import { cacheFolder } from '../../local/python-package';

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
  const script = chosen === undefined ? findScript(env) : undefined;
  if (script !== undefined) return (program) => ({ command: [script, program], env });
  const python = chosen ?? (hasSources ? join(trainerEnvironment(sources, env), 'bin', 'python') : undefined);
  if (python === undefined || !existsSync(python)) throw notInstalled(sources, hasSources, chosen);
  // Of the current folder no module is loaded (-P): it may be a stranger's.
  return (program) => ({
    command: [python, '-P', '-m', `conductor_trainer.${program.replace('-', '_')}`],
    env: hasSources ? { ...env, PYTHONPATH: join(sources, 'src') } : env,
  });
}

/** Where the environment for these sources lies, once it is made: it serves every checkout that has the same locks. */
function trainerEnvironment(sources: string, env: NodeJS.ProcessEnv = process.env): string {
  const hash = createHash('sha256');
  for (const lock of ['requirements.lock', 'requirements-dev.lock']) {
    hash.update(readFileSync(join(sources, lock)));
  }
  return join(cacheFolder(env), `trainer-${hash.digest('hex').slice(0, 12)}`);
}

function findScript({ VIRTUAL_ENV, PATH = '' }: NodeJS.ProcessEnv): string | undefined {
  const environment = VIRTUAL_ENV
    ? [join(VIRTUAL_ENV, process.platform === 'win32' ? 'Scripts' : 'bin')]
    : [];
  const name = process.platform === 'win32' ? `${PACKAGE}.exe` : PACKAGE;
  // Never a relative folder of PATH: what lies there is the current folder's choice, not the user's.
  const folders = [...environment, ...PATH.split(delimiter)].filter(isAbsolute);
  return folders.map((folder) => join(folder, name)).find(existsSync);
}

function notInstalled(sources: string, hasSources: boolean, chosen: string | undefined): UsageError {
  if (chosen !== undefined) {
    return new UsageError(`TRAINER_PYTHON is ${chosen}, and there is no such file: correct it, or unset it`);
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

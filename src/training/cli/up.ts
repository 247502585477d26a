import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { DRAIN_MS, type Part, serveHere } from '../../cli/commands/serve';
import { EXIT, type ExitCode, UsageError } from '../../cli/exit-code';
import type { Session } from '../../cli/session';
import { FOLDER, loadSettings, type WorkOptions } from '../../cli/load-settings';
import { supervise, type Supervised } from '../../cli/supervise';
import { say } from '../../cli/terminal';
import { readStoreUrl } from '../../config/store-url';
import { holderOf, lockFile } from '../../local/file-lock';
import { startProgram } from '../../start-program';
import { trainingOf } from '../config/resolve';
import type { TrainableConfig, TrainingConfig } from '../config/schema';
import { trainable } from './add-on';
import { askHealth } from './night-parts';
import { findTrainer, type TrainerCommand, type TrainerProgram } from './trainer-program';
import { LOOK_MS } from './session';

type FindProgram = (program: TrainerProgram) => TrainerCommand;

/**
 * `train up`: all that nights need on one machine: what `up` runs, the trainer, and a policy server where none is given.
 * Once a folder: two trainers would share its checkpoints.
 */
export async function trainUp(options: WorkOptions): Promise<ExitCode> {
  const config = trainable(await loadSettings(options));
  const training = trainingOf(config);
  checkFiles(training);
  const program = findTrainer();
  const path = join(FOLDER, 'train-up.lock');
  const held = await lockFile(path);
  if (held === null) {
    const holder = await holderOf(path);
    throw new UsageError(
      `"train up" runs in this folder already, in process ${holder}: use that one, or stop it first ("kill ${holder}")`,
    );
  }
  try {
    const policies = await policiesOf(config, training, program);
    return await serveHere(options, (session) => {
      say('Waiting for the worker and for Python, whose libraries take some seconds to load …');
      return [trainerPart(session, training, program), policies];
    });
  } finally {
    await held.close();
  }
}

/** Warns of missing files, which would stop the first night. */
function checkFiles({ base, data }: TrainingConfig): void {
  if (base.kind === 'folder' && !existsSync(base.path)) {
    throw new UsageError(
      `training.base.path is ${base.path}, and there is no such folder: put a model of the Hugging Face hub there, ` +
        `e.g. with "hf download NAME --local-dir ${base.path}", or name its folder`,
    );
  }
  for (const [key, file] of Object.entries(data)) {
    if (!existsSync(file))
      say(`training.data.${key} is ${file}, which is not there: no night can begin before it is.`);
  }
}

/** Folder of exports, below the one that commands run in. */
const EXPORTS = 'exported';

function trainerPart(session: Session, training: TrainingConfig, find: FindProgram): Part {
  const { config, server } = session;
  const { command, env } = find('worker');
  const { base, checkpoints, policy, trainer } = training;
  const options = {
    '--allow-server': policy.baseUrl,
    '--export-root': resolve(EXPORTS),
    ...(base.kind === 'folder' && { '--base-root': resolve(base.path) }),
    '--task-queue': trainer.taskQueue,
    '--namespace': server.namespace,
    ...(config.encryption !== undefined && { '--encryption-key-env': config.encryption.keyEnv }),
    '--drain-seconds': `${DRAIN_MS / 1000}`,
  };
  const args = [
    ...placeOptions(training),
    ...Object.entries(options).flat(),
    ...(config.encryption?.strict === true ? ['--encryption-strict'] : []),
    '--end-with-stdin',
  ];
  const program = programOf('trainer', [...command, ...args], {
    ...computingEnv(env, training),
    ...(server.embedded && { TEMPORAL_ADDRESS: server.address }),
  });
  const line = `Trainer     task queue ${trainer.taskQueue}, checkpoints below ${checkpoints}, exports below ${EXPORTS}`;
  return (stop, sayReady) =>
    supervise(program, 'train up', stop, () => {
      sayReady(line);
    });
}

/**
 * A program that writes a line to stdout when it works, and ends when its stdin does. It runs in a process group of its
 * own, so that Ctrl-C in a terminal reaches only this process, which then decides.
 */
function programOf(
  name: string,
  [file, ...args]: readonly [string, ...string[]],
  env: NodeJS.ProcessEnv,
): Supervised {
  const start = (sayReady: () => void): ChildProcess => {
    // Its options may name files of this folder.
    const setting = { cwd: process.cwd(), env, passes: 'all', detached: true } as const;
    const child = startProgram(file, args, { ...setting, stdio: ['pipe', 'pipe', 'inherit'] });
    if (child.stdout !== null) createInterface({ input: child.stdout }).once('line', sayReady);
    return child;
  };
  return { name, start };
}

/** Batches and checkpoints, and where those lie ready: trainer and policy server share the folder. */
function placeOptions({ artifacts, checkpoints }: TrainingConfig): string[] {
  const place = readStoreUrl(artifacts) === null ? resolve(artifacts) : artifacts;
  return ['--artifacts', place, '--checkpoints', resolve(checkpoints)];
}

/** On a processor, one thread: a tiny model loses more time to a second one than it gains. */
function computingEnv(env: NodeJS.ProcessEnv, { trainer }: TrainingConfig): NodeJS.ProcessEnv {
  return trainer.device === 'cpu' ? { OMP_NUM_THREADS: '1', ...env } : env;
}

/** The policy server that is given, or where it would be on this machine and nothing answers, one of ours for CPUs. */
async function policiesOf(
  config: TrainableConfig,
  training: TrainingConfig,
  find: FindProgram,
): Promise<Part> {
  const { baseUrl } = training.policy;
  const { hostname, port } = new URL(baseUrl);
  const isHere = ['127.0.0.1', 'localhost'].includes(hostname);
  if (!isHere || training.trainer.device !== 'cpu' || (await answers(baseUrl))) return givenPolicies(baseUrl);
  const { command, env } = find('policy-server');
  const address = ['--host', hostname, '--port', port === '' ? '80' : port];
  const program = programOf(
    'policy server',
    [...command, ...address, ...placeOptions(training), '--end-with-stdin'],
    computingEnv(env, training),
  );
  return (stop, sayReady) =>
    supervise(program, 'train up', stop, () => {
      sayReady(`Policies    ${baseUrl}, on this machine's processor`);
    });
}

function givenPolicies(baseUrl: string): Part {
  return async (stop, sayReady) => {
    for (let look = 1; !stop.aborted && !(await answers(baseUrl)); look += 1) {
      if (look === 1) {
        say(
          `Waiting for the policy server at ${baseUrl} (training.policy.baseUrl), where nothing answers: ` +
            'start vLLM there, see docs/training.md, or name another …',
        );
      }
      await pause(LOOK_MS, undefined, { signal: stop }).catch(() => undefined);
    }
    if (!stop.aborted) {
      sayReady(`Policies    ${baseUrl}, a server that was started elsewhere`);
      await once(stop, 'abort');
    }
    return EXIT.answered;
  };
}

async function answers(baseUrl: string): Promise<boolean> {
  return (await askHealth(baseUrl, LOOK_MS))?.ok === true;
}

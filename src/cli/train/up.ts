import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { OWN_FOLDER } from '../../runtime/own-folder';
import { DRAIN_MS, serveHere, type ServeOptions } from '../serve/serve';
import type { ExitCode } from '../kit/ending';
import { UsageError } from '../../errors';
import type { Session } from '../kit/session';
import { loadSettings } from '../kit/load-settings';
import type { Supervised } from '../kit/supervise';
import { say } from '../kit/terminal';
import { holderOf, lockFile } from '../../local/file-lock';
import { type TrainingConfig, trainingOf } from '../../training/config';
import { serversOf } from '../../training/names';
import { findTrainer, starting, type TrainerPrograms } from './find-python';
import { policyServersOf } from './policy-servers';

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
    const policies = await policyServersOf(training, python);
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

function trainerOf(
  { config, server }: Session,
  training: TrainingConfig,
  python: TrainerPrograms,
): Supervised {
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

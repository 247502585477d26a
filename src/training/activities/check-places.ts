import { ConfigError } from '../../config/errors';
import { trainingOf } from '../config/resolve';
import type { TrainableConfig, TrainingConfig } from '../config/schema';
import type { NamedPlaces } from '../contract';

/**
 * Local activity `conductor.train.checkPlaces`: whether the places that a workflow's input names are those of this
 * process's own configuration. Any client may write such an input; what it names otherwise is given no work.
 *
 * @throws ConfigError that says which place is another one
 */
export function checkPlaces(
  { config }: { readonly config: TrainableConfig },
  { policyServer, trainerQueue, modelFolder }: NamedPlaces,
): Promise<void> {
  const training = trainingOf(config);
  check('the policy server', policyServer, 'training.policy.baseUrl', ({ policy }) => policy.baseUrl);
  check(
    "the trainer's queue",
    trainerQueue,
    'training.trainer.taskQueue',
    ({ trainer }) => trainer.taskQueue,
  );
  check('the base model', modelFolder, 'training.base', ({ base }) =>
    base.kind === 'folder' ? base.path : base.kind,
  );
  return Promise.resolve();

  function check(
    what: string,
    named: string | undefined,
    setting: string,
    read: (training: TrainingConfig) => string,
  ): void {
    const own = read(training);
    if (named === undefined || own === named) return;
    throw new ConfigError(
      `the input names ${what} ${named}, and ${setting} is ${own} in the configuration of this worker process: give all ` +
        'worker processes the same configuration, and start it again',
    );
  }
}

import { ConfigError } from '../../config/errors';
import { trainingOf } from '../config/resolve';
import type { TrainableConfig } from '../config/schema';
import type { NamedPlaces } from '../contract';

/**
 * Local activity `conductor.train.checkPlaces`: whether the places that a workflow's input names are those of this
 * process's own configuration. Any client may write such an input; what it names otherwise is given no work.
 *
 * @throws ConfigError that says which place is another one
 */
export function checkPlaces(
  { config }: { readonly config: TrainableConfig },
  { policyServer, trainerQueue }: NamedPlaces,
): Promise<void> {
  const { policy, trainer } = trainingOf(config);
  check('the policy server', policyServer, ['training.policy.baseUrl', policy.baseUrl]);
  check("the trainer's queue", trainerQueue, ['training.trainer.taskQueue', trainer.taskQueue]);
  return Promise.resolve();
}

function check(what: string, named: string | undefined, [setting, own]: readonly [string, string]): void {
  if (named === undefined || named === own) return;
  throw new ConfigError(
    `the input names ${what} ${named}, and ${setting} is ${own} in the configuration of this worker process: give all ` +
      'worker processes the same configuration, and start it again',
  );
}

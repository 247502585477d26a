import { createConfigReader } from '../../config/load';
import { noticesOf, unpricedOf } from '../../config/notices';
import { resolveRun } from '../../config/resolve-run';
import { applyProfile } from './profile';
import { type TrainableConfig, type TrainableInput, trainingConfigSchema } from './schema';

/** Reads a `conductor.yaml` with its section `training`, which a profile may complete. */
export const {
  load: loadTrainableConfig,
  readFile: readTrainableFile,
  parse: parseTrainable,
} = createConfigReader<TrainableInput, TrainableConfig>(trainingConfigSchema, applyProfile, (config) => [
  ...noticesOf(config),
  ...budgetNoticesOf(config),
]);

/** Plans are written by a policy of one's own, so that only the workers' prices count. */
export function budgetNoticesOf(config: TrainableConfig): string[] {
  const costUsd = config.training?.budget.costUsd ?? null;
  const names = unpricedOf(resolveRun(config)).flatMap(({ name, worker }) => (worker === null ? [] : name));
  if (costUsd === null || names.length === 0) return [];
  return [
    `training.budget.costUsd ($${costUsd}) cannot be enforced, since no price is known of ${names.join(', ')}: ` +
      'give each worker a "price:"; training.budget.hours still binds.',
  ];
}

import type { WorkerOptions } from '@temporalio/worker';
import { createEvaluationActivities } from '../evaluation/activities';
import { configuredStore } from '../store/open-store';
import type { Store } from '../store/store';
import { WorkerPlugin } from '../worker/worker-plugin';
import { createTrainingActivities } from './activities';
import { readGivenTrainable } from './config/load';
import type { TrainableInput } from './config/schema';
import { groupQueue } from './names';
import { createPolicyProvider } from './policy/conductor';

export interface TrainingPluginOptions {
  /** Option of `ConductorPlugin`. */
  readonly config?: string | TrainableInput;
  /** Option of `ConductorPlugin`. */
  readonly store?: Store;
}

/**
 * Turns any Temporal worker into one that solves, trains and serves checkpoints; use it instead of `ConductorPlugin`.
 * With `training.slots`, a worker for the queue of groups runs beside yours and ends with it.
 *
 * @example
 * // workflows.ts
 * export * from 'temporal-conductor/training/workflows';
 * // worker.ts
 * await Worker.create({ ...options, plugins: [new TrainingPlugin()] });
 */
export class TrainingPlugin extends WorkerPlugin {
  constructor({ config: given, store: givenStore }: TrainingPluginOptions = {}) {
    const config = readGivenTrainable(given);
    const store = givenStore ?? configuredStore(config);
    const activities = {
      ...createEvaluationActivities(store),
      ...createTrainingActivities({ config, store }),
    };
    const slots = config.training?.slots ?? null;
    super(
      'temporal-conductor.TrainingPlugin',
      { config, store },
      {
        activities,
        policy: createPolicyProvider(store),
        queuesBeside: (queue, solving) => {
          if (slots === null) return [];
          const adapt = (options: WorkerOptions): WorkerOptions => forGroups(options, slots);
          return [{ taskQueue: groupQueue(queue), activities: { ...solving, ...activities }, adapt }];
        },
      },
    );
  }
}

/** Adapts a worker's options to the queue of groups, which gets their workflows as well as their activities. */
function forGroups(options: WorkerOptions, slots: number): WorkerOptions {
  const adapted = { ...options };
  delete adapted.nexusServices;
  // The SDK refuses a tuner beside a fixed number of slots.
  delete adapted.tuner;
  return { ...adapted, maxConcurrentActivityTaskExecutions: slots };
}

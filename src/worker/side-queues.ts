import type { WorkerOptions } from '@temporalio/worker';
import type { ModelProvider } from '../pool/card';
import type { Config } from '../pool/config-schema';
import type { ConductorActivities } from '../protocol/activities';
import { providerQueue } from '../protocol/provider-queue';
import type { TrainingActivities } from '../training/activities';
import { groupQueue } from '../training/night-ids';

/** What a worker can do. */
export interface SideActivities {
  readonly solving: ConductorActivities;
  readonly training: TrainingActivities;
}

/** A queue that is polled beside a worker's own. */
export interface SideQueue {
  readonly taskQueue: string;
  readonly activities: object;
  /** Makes the options of the worker beside it into those of its own. */
  readonly adapt: (options: WorkerOptions) => WorkerOptions;
}

/**
 * The queues that a configuration keeps apart: one for the calls of each provider, and one for the groups of nights with
 * the slots that they are given.
 */
export function sideQueues(
  config: Config,
  taskQueue: string,
  { solving, training }: SideActivities,
): SideQueue[] {
  const { queuePerProvider, callsPerSecond } = config.temporal;
  const providers = queuePerProvider ? providersOf(config) : [];
  const slots = config.training?.slots ?? null;
  return [
    ...providers.map((provider) => ({
      taskQueue: providerQueue(taskQueue, provider),
      activities: { ...solving },
      adapt: (options: WorkerOptions) => forCalls(options, callsPerSecond?.[provider]),
    })),
    ...(slots === null ? [] : [slots]).map((count) => ({
      taskQueue: groupQueue(taskQueue),
      activities: { ...solving, ...training },
      adapt: (options: WorkerOptions) => forGroups(options, count),
    })),
  ];
}

function providersOf({ conductor, workers }: Config): ModelProvider[] {
  const models = workers.flatMap((each) => ('model' in each ? each.provider : []));
  return [...new Set([conductor.provider, ...models])];
}

/** Activities alone. */
function forCalls(options: WorkerOptions, perSecond: number | undefined): WorkerOptions {
  const adapted = { ...options };
  delete adapted.workflowsPath;
  delete adapted.workflowBundle;
  delete adapted.nexusServices;
  return { ...adapted, ...(perSecond !== undefined && { maxTaskQueueActivitiesPerSecond: perSecond }) };
}

/** Workflows too: what a group does waits where the group does. */
function forGroups(options: WorkerOptions, slots: number): WorkerOptions {
  const adapted = { ...options };
  delete adapted.nexusServices;
  // It would decide on the slots, and they are given.
  delete adapted.tuner;
  return { ...adapted, maxConcurrentActivityTaskExecutions: slots };
}

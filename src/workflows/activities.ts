import {
  ActivityCancellationType,
  type ActivityInterfaceFor,
  proxyActivities,
  proxyLocalActivities,
  workflowInfo,
} from '@temporalio/workflow';
import type { ConductorActivities } from '../protocol/activity-contract';
import type { ConductorCard, ModelCard } from '../protocol/cards';
import { type CHECK_RUN, providerQueue, type RESOLVE_RUN } from '../protocol/names';
import type { ResolvedRun } from '../protocol/run';

/** How long and how patiently a model call is waited for. */
export interface CallOptions {
  /** Milliseconds left of the run's wall clock. */
  readonly remainingMs: number;
  readonly heartbeatMs: number;
  /** One line for Temporal's UI. */
  readonly summary: string;
  /** Where the call waits, if not in the run's own queue. */
  readonly taskQueue?: string;
}

/** The queue of the provider that is asked, where a run's calls are kept apart by provider; else nothing. */
export function queueFor(
  run: ResolvedRun,
  { provider }: ModelCard | ConductorCard,
): Pick<CallOptions, 'taskQueue'> {
  return run.queuePerProvider ? { taskQueue: providerQueue(workflowInfo().taskQueue, provider) } : {};
}

/**
 * The activities that call models.
 *
 * - `scheduleToCloseTimeout` is the run's remaining time: the wall-clock limit needs no timer. A single request is
 *   bounded by its card's `timeout`, inside the activity, where the HTTP call can be closed.
 * - `heartbeatTimeout` tells a lost worker from a slow model.
 * - Retries are unlimited here, since waiting as a provider asks would use up attempts; what is capped is requests,
 *   counted in the ledger by the activity itself.
 * - A cancellation is waited for, so that a run ends as cancelled only after its HTTP calls are closed.
 */
export function modelActivities(options: CallOptions): ActivityInterfaceFor<ConductorActivities> {
  return proxyActivities<ConductorActivities>({
    scheduleToCloseTimeout: options.remainingMs,
    heartbeatTimeout: options.heartbeatMs,
    cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
    retry: { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '1m' },
    summary: options.summary,
    taskQueue: options.taskQueue,
  });
}

/**
 * The local activities that read the configuration: no round trip, and one marker in the history. A store that is away
 * for a while does not end the run.
 */
export function configurationActivities(
  summary = 'resolve the configuration',
): Pick<ConductorActivities, typeof RESOLVE_RUN | typeof CHECK_RUN> {
  return proxyLocalActivities<Pick<ConductorActivities, typeof RESOLVE_RUN | typeof CHECK_RUN>>({
    startToCloseTimeout: '1m',
    scheduleToCloseTimeout: '10m',
    summary,
  });
}

/** Activities that only read and write the store. Two minutes are long for them; half an hour is enough to free a disk. */
export function storeActivities<Activities = ConductorActivities>(
  summary: string,
  taskQueue?: string,
): ActivityInterfaceFor<Activities> {
  return proxyActivities<Activities>({
    taskQueue,
    startToCloseTimeout: '2m',
    scheduleToCloseTimeout: '30m',
    cancellationType: ActivityCancellationType.TRY_CANCEL,
    summary,
  });
}

import {
  ActivityCancellationType,
  type ActivityInterfaceFor,
  proxyActivities,
  proxyLocalActivities,
  workflowInfo,
} from '@temporalio/workflow';
import type { ConductorActivities } from '../protocol/activity-contract';
import type { CalledCard, ResolvedRun, RunWorker } from '../protocol/cards';
import { CHECK_RUN, KEEP_TEXT, providerQueue, READ_TEXT, type RESOLVE_RUN } from '../protocol/names';
import { INLINE_BYTES, type Text } from '../protocol/text';
import { orFail } from './failures';
import type { Limits } from './limits';

/**
 * Returns the activities that call a model.
 *
 * - `scheduleToCloseTimeout` is the run's remaining time, so that the wall-clock limit needs no timer.
 * - Retries are unlimited, since waits that a provider asks for would use up attempts; the activity caps its requests.
 * - Cancellation waits for completion, so that a run ends as cancelled only after its HTTP calls are closed.
 * @param summary one line for Temporal's UI
 */
export function modelActivities(
  { run, limits }: { readonly run: ResolvedRun; readonly limits: Limits },
  { provider }: CalledCard,
  summary: string,
): ActivityInterfaceFor<ConductorActivities> {
  return proxyActivities<ConductorActivities>({
    scheduleToCloseTimeout: limits.timeToStart(),
    heartbeatTimeout: run.heartbeatMs,
    cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
    retry: { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '1m' },
    summary,
    taskQueue: run.queuePerProvider ? providerQueue(workflowInfo().taskQueue, provider) : undefined,
  });
}

type ConfigurationActivities = Pick<ConductorActivities, typeof RESOLVE_RUN | typeof CHECK_RUN>;

/** Returns the local activities that read the configuration. A store that is away for a while does not end the run. */
export function configurationActivities<Activities = ConfigurationActivities>(
  summary: string,
): ActivityInterfaceFor<Activities> {
  return proxyLocalActivities<Activities>({
    startToCloseTimeout: '1m',
    scheduleToCloseTimeout: '10m',
    summary,
  });
}

/** Checks a run from an input by its shape and the names in it, since any client may have written it. */
export async function checkGiven(run: ResolvedRun, ...cards: readonly RunWorker[]): Promise<void> {
  await orFail(configurationActivities('check what was given')[CHECK_RUN](run, cards));
}

/** Returns activities that use the store. An attempt rarely takes two minutes; half an hour suffices to free a disk. */
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

/**
 * Reads a whole text of a solve's trace, in a workflow of your own. Returns '' for null, which a failed step leaves.
 * @param taskQueue polled by workers with the plugin. @default the workflow's own
 * @throws ActivityFailure for a text over 1 MB, too long for a workflow: read it in an activity, with `readText`
 */
export async function textOf(text: Text | null, taskQueue?: string): Promise<string> {
  if (text === null) return '';
  return typeof text === 'string' ? text : storeActivities('read a text', taskQueue)[READ_TEXT](text);
}

/** Keeps a text that is long for a history, and returns its reference. */
export async function keepIfLong(text: Text, storeId?: string, inlineBytes = INLINE_BYTES): Promise<Text> {
  // UTF-16 units take at most three UTF-8 bytes each: short enough without counting.
  if (typeof text !== 'string' || text.length * 3 <= inlineBytes) return text;
  return storeActivities('keep a long output')[KEEP_TEXT](text, inlineBytes, storeId);
}

/** Returns one line about a step for Temporal's UI. */
export function stepSummary(step: number, subtask: string, ...who: readonly string[]): string {
  const start = subtask.slice(0, 80).replace(/\s+/g, ' ');
  return [`step ${step + 1}`, ...who, start].join(' · ');
}

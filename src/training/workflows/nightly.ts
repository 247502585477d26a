import {
  defineSearchAttributeKey,
  SearchAttributeType,
  WorkflowExecutionAlreadyStartedError,
} from '@temporalio/common';
import {
  ActivityFailure,
  ApplicationFailure,
  CancellationScope,
  ChildWorkflowCancellationType,
  ChildWorkflowFailure,
  type ChildWorkflowHandle,
  isCancellation,
  ParentClosePolicy,
  startChild,
  TimeoutFailure,
  type Workflow,
  workflowInfo,
} from '@temporalio/workflow';
import { FAILURES } from '../../protocol/failures';
import type { TrainInput } from '../contract';
import { TRAIN_WORKFLOW } from '../names';
import { isTimeZone, NIGHT_PRIORITY, nightDate, nightWorkflowId } from '../night-ids';

/** The one argument of a scheduled night. The run must be named: its nights are kept apart by it. */
export type NightlyInput = TrainInput & { readonly trainRun: string };

/** What became of a time that the schedule was due at. */
export interface NightlyResult {
  /** Local calendar date. */
  readonly night: string;
  /** True where another night of the run was under way, e.g. one started by hand: nothing was done. */
  readonly isSkipped: boolean;
  /** True where a person ended it at once: the next night goes on with what it left. */
  readonly isCancelled: boolean;
}

/**
 * Workflow `conductorTrainNightly`, which a schedule starts: makes the night of the time that it was due at.
 *
 * A schedule appends that time to its workflow ids and knows no priority, so the night itself is a child: with the id that
 * every night of the run has, and behind people who wait. If this workflow's time runs out, the night is terminated
 * with it; one that could not even be cancelled would keep all later ones from starting.
 *
 * A night that a person ended is no failure, and the schedule goes on: pause the schedule to have no more nights.
 */
export async function conductorTrainNightly(input: NightlyInput): Promise<NightlyResult> {
  const night = input.date ?? dateIn(input.timeZone ?? 'UTC');
  const child = await startNight({ ...input, date: night });
  if (child === null) return { night, isSkipped: true, isCancelled: false };
  try {
    await child.result();
  } catch (error) {
    if (!isCancellation(error)) throw nightFailure(night, error);
    if (CancellationScope.current().consideredCancelled) throw error;
    return { night, isSkipped: false, isCancelled: true };
  }
  return { night, isSkipped: false, isCancelled: false };
}

/** Set by Temporal on what a schedule starts: when that was due, jitter left aside, be it caught up or backfilled. */
const SCHEDULED_AT = defineSearchAttributeKey('TemporalScheduledStartTime', SearchAttributeType.DATETIME);

function dateIn(timeZone: string): string {
  if (!isTimeZone(timeZone)) {
    throw ApplicationFailure.nonRetryable(
      `timeZone ${JSON.stringify(timeZone)} is unknown: name one such as Europe/Berlin`,
      FAILURES.badInput,
    );
  }
  const { typedSearchAttributes, startTime } = workflowInfo();
  return nightDate(typedSearchAttributes.get(SCHEDULED_AT) ?? startTime, timeZone);
}

/** null while another night of the run is under way. */
async function startNight(input: NightlyInput): Promise<ChildWorkflowHandle<Workflow> | null> {
  try {
    return await startChild(TRAIN_WORKFLOW, {
      workflowId: nightWorkflowId(input.trainRun),
      args: [input],
      parentClosePolicy: ParentClosePolicy.TERMINATE,
      cancellationType: ChildWorkflowCancellationType.WAIT_CANCELLATION_COMPLETED,
      priority: { priorityKey: NIGHT_PRIORITY },
      staticSummary: `night ${input.date ?? ''} of ${input.trainRun}`,
    });
  } catch (error) {
    if (error instanceof WorkflowExecutionAlreadyStartedError) return null;
    throw error;
  }
}

/** Says in its own words what the night failed of: the note of a schedule that pauses shows no more of it. */
function nightFailure(night: string, error: unknown): ApplicationFailure {
  const { type, message } = rootFailure(error);
  return ApplicationFailure.create({
    message: `night ${night} failed: ${message}`,
    nonRetryable: true,
    type: type ?? undefined,
    cause: error instanceof Error ? error : undefined,
  });
}

/** What failed at the bottom. */
export interface RootFailure {
  /** Of an application failure; null for any other, such as a time-out. */
  readonly type: string | null;
  readonly message: string;
}

/**
 * Looks through the failures of activities and children, whose own words say only that they failed, and through time that
 * ran out, to what had kept failing until then. Where nothing had, what it ran out for is named.
 */
export function rootFailure(error: unknown): RootFailure {
  if (error instanceof ActivityFailure && error.cause instanceof TimeoutFailure) {
    return (
      lastFailure(error.cause) ?? {
        type: null,
        message: `${error.activityType} was not done in time: ${error.cause.message}`,
      }
    );
  }
  const isWrapper = error instanceof ActivityFailure || error instanceof ChildWorkflowFailure;
  if (isWrapper && error.cause !== undefined) return rootFailure(error.cause);
  const type = error instanceof ApplicationFailure ? (error.type ?? null) : null;
  return { type, message: error instanceof Error ? error.message : String(error) };
}

/** The server sends it with the time-out; the SDK leaves it in the server's own form. */
function lastFailure({ failure }: TimeoutFailure): RootFailure | null {
  const { message, applicationFailureInfo } = failure?.cause ?? {};
  if (message === undefined || message === null) return null;
  return { type: applicationFailureInfo?.type ?? null, message };
}

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
import type { TrainInput } from '../input';
import { TRAIN_WORKFLOW } from '../names';
import { isTimeZone, NIGHT_PRIORITY, nightDate, nightWorkflowId } from '../night-ids';

/** The one argument of a scheduled night. The run must be named: its nights are kept apart by it. */
export type NightlyInput = TrainInput & { readonly trainRun: string };

/** What became of a time that the schedule was due at. */
export interface NightlyResult {
  /** Local calendar date. */
  readonly night: string;
  /** True where another night of the run was under way, begun by hand, say: nothing was done. */
  readonly isSkipped: boolean;
  /** True where somebody ended it at once: the next night goes on with what it left. */
  readonly isCancelled: boolean;
}

/** Set by Temporal on whatever a schedule starts: when that was due, jitter left aside, be it caught up or backfilled. */
const SCHEDULED_AT = defineSearchAttributeKey('TemporalScheduledStartTime', SearchAttributeType.DATETIME);

/**
 * What a schedule starts: makes the night of the time that it was due at.
 *
 * A schedule appends that time to its workflow ids and knows no priority, so the night itself is a child: with the id that
 * every night of the run has, and behind the people who wait. If this workflow's time runs out, the night is terminated
 * with it; one that could not even be cancelled would keep all later ones from starting.
 *
 * A night that somebody ended is no failure, and the schedule goes on: who wants no more nights tells the schedule.
 */
export async function trainNightly(input: NightlyInput): Promise<NightlyResult> {
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

/** Says in its own words what the night failed of: the note of a schedule that pauses shows no more of it than them. */
function nightFailure(night: string, error: unknown): ApplicationFailure {
  const { type, message } = rootFailure(error);
  return ApplicationFailure.create({
    message: `night ${night} failed: ${message}`,
    nonRetryable: true,
    ...(type !== null && { type }),
    ...(error instanceof Error && { cause: error }),
  });
}

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

/** What failed at the bottom, and in which words. */
export interface RootFailure {
  /** Of an application failure; else null, for a time-out, say. */
  readonly type: string | null;
  readonly message: string;
}

/**
 * Looks through the failures of activities and children, whose own words tell no more than that they failed, and through
 * time that ran out, to what had kept failing until then. Where nothing had, what it ran out for is named.
 */
export function rootFailure(error: unknown): RootFailure {
  if (error instanceof ActivityFailure && error.cause instanceof TimeoutFailure) {
    return lastFailure(error.cause) ?? { type: null, message: outOfTime(error, error.cause) };
  }
  const isWrapper = error instanceof ActivityFailure || error instanceof ChildWorkflowFailure;
  if (isWrapper && error.cause !== undefined) return rootFailure(error.cause);
  const type = error instanceof ApplicationFailure ? (error.type ?? null) : null;
  return { type, message: error instanceof Error ? error.message : String(error) };
}

/** The server tells it with the time-out; the SDK hands it on in the server's own form alone. */
function lastFailure({ failure }: TimeoutFailure): RootFailure | null {
  const { message, applicationFailureInfo } = failure?.cause ?? {};
  if (message === undefined || message === null) return null;
  return { type: applicationFailureInfo?.type ?? null, message };
}

function outOfTime({ activityType }: ActivityFailure, { message }: TimeoutFailure): string {
  return `${activityType} was not done in time: ${message}`;
}

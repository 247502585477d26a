import {
  ApplicationFailure,
  CancellationScope,
  ChildWorkflowCancellationType,
  isCancellation,
  ParentClosePolicy,
  startChild,
  workflowInfo,
  type ChildWorkflowHandle,
  type Workflow,
} from '@temporalio/workflow';
import {
  defineSearchAttributeKey,
  SearchAttributeType,
  WorkflowExecutionAlreadyStartedError,
} from '@temporalio/common';
import { FAILURES } from '../../protocol/failures';
import { TRAIN_WORKFLOW } from '../../training/names';
import { isTimeZone, nightDate } from '../../training/night-date';
import { NIGHT_PRIORITY, nightWorkflowId } from '../../training/night-ids';
import type { TrainInput } from '../../training/train-input';
import { rootFailure } from './root-failure';

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

import {
  ApplicationFailure,
  ChildWorkflowCancellationType,
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

/** The one argument of a scheduled night. The run must be named: its nights are kept apart by it. */
export type NightlyInput = TrainInput & { readonly trainRun: string };

/** What became of a time that the schedule was due at. */
export interface NightlyResult {
  /** Local calendar date. */
  readonly night: string;
  /** True where another night of the run was under way, begun by hand, say: nothing was done. */
  readonly isSkipped: boolean;
}

/** Set by Temporal on whatever a schedule starts: when that was due, jitter left aside, be it caught up or backfilled. */
const SCHEDULED_AT = defineSearchAttributeKey('TemporalScheduledStartTime', SearchAttributeType.DATETIME);

/**
 * What a schedule starts: makes the night of the time that it was due at.
 *
 * A schedule appends that time to its workflow ids and knows no priority, so the night itself is a child: with the id that
 * every night of the run has, and behind the people who wait. If this workflow's time runs out, the night is terminated
 * with it; one that could not even be cancelled would keep all later ones from starting.
 */
export async function trainNightly(input: NightlyInput): Promise<NightlyResult> {
  const night = input.date ?? dateIn(input.timeZone ?? 'UTC');
  const child = await startNight({ ...input, date: night });
  if (child === null) return { night, isSkipped: true };
  await child.result();
  return { night, isSkipped: false };
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

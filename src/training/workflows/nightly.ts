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
import { reasonOf } from '../../errors';
import type { NightlyInput } from '../inputs';
import { NIGHT_PRIORITY, nightDate, NIGHTLY_WORKFLOW, nightWorkflowId, TRAIN_WORKFLOW } from '../names';
import { checkInput } from './activities';

export interface NightlyResult {
  readonly night: string;
  readonly isSkipped: boolean;
  readonly isCancelled: boolean;
}

/**
 * Workflow `conductorTrainNightly`: makes the night of the time that it was due at. A schedule appends that time to its ids
 * and knows no priority, so the night itself is a child, terminated with this workflow, lest it keep later ones out.
 */
export async function conductorTrainNightly(input: NightlyInput): Promise<NightlyResult> {
  await checkInput({ workflow: NIGHTLY_WORKFLOW, input });
  const { typedSearchAttributes, startTime } = workflowInfo();
  const dueAt = typedSearchAttributes.get(SCHEDULED_AT) ?? startTime;
  const night = input.date ?? nightDate(dueAt, input.timeZone ?? 'UTC');
  const child = await startNight({ ...input, date: night });
  const result = { night, isSkipped: child === null, isCancelled: false };
  try {
    await child?.result();
    return result;
  } catch (error) {
    if (!isCancellation(error)) throw nightFailure(night, error);
    if (CancellationScope.current().consideredCancelled) throw error;
    return { ...result, isCancelled: true };
  }
}

/** Set by Temporal on what a schedule starts: when it was due, without jitter, also when caught up or backfilled. */
const SCHEDULED_AT = defineSearchAttributeKey('TemporalScheduledStartTime', SearchAttributeType.DATETIME);

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

/** Names the root failure in its own message, which is all that the note of a paused schedule shows. */
function nightFailure(night: string, error: unknown): ApplicationFailure {
  const { type, message } = rootFailure(error);
  return ApplicationFailure.create({
    message: `night ${night} failed: ${message}`,
    nonRetryable: true,
    type: type ?? undefined,
    cause: error instanceof Error ? error : undefined,
  });
}

interface RootFailure {
  readonly type: string | null;
  readonly message: string;
}

/** The failure below those of activities, children and time-outs, which only say that something failed. */
export function rootFailure(error: unknown): RootFailure {
  if (error instanceof ActivityFailure && error.cause instanceof TimeoutFailure) {
    return lastFailureIn(error.cause, error.activityType);
  }
  const isWrapper = error instanceof ActivityFailure || error instanceof ChildWorkflowFailure;
  if (isWrapper && error.cause !== undefined) return rootFailure(error.cause);
  const type = error instanceof ApplicationFailure ? (error.type ?? null) : null;
  return { type, message: reasonOf(error) };
}

/** The server sends the last attempt's failure with a time-out; the SDK leaves it in the server's form. */
function lastFailureIn({ failure, message: timedOut }: TimeoutFailure, activity: string): RootFailure {
  const { message, applicationFailureInfo } = failure?.cause ?? {};
  if (message) return { type: applicationFailureInfo?.type ?? null, message };
  return { type: null, message: `${activity} was not done in time: ${timedOut}` };
}

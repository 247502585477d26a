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
import { requireValidInput } from './activities';

export interface NightlyResult {
  readonly night: string;
  readonly isSkipped: boolean;
  readonly isCancelled: boolean;
}

/**
 * Workflow `conductorTrainNightly`: runs the night (`conductorTrain`, `loop.ts`) of its scheduled time. A schedule appends that time to workflow ids
 * and cannot set a priority, so the night is a child; it is terminated with this workflow, lest it block later nights.
 */
export async function conductorTrainNightly(input: NightlyInput): Promise<NightlyResult> {
  await requireValidInput({ workflow: NIGHTLY_WORKFLOW, input });
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

/** Due time that Temporal sets on scheduled workflows, without jitter, also after a catch-up or backfill. */
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

/** Puts the root failure into its own message, the only part that the note of a paused schedule shows. */
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

/** Unwraps failures of activities, children and timeouts, which only say that something failed. */
export function rootFailure(error: unknown): RootFailure {
  if (error instanceof ActivityFailure && error.cause instanceof TimeoutFailure) {
    return lastFailureIn(error.cause, error.activityType);
  }
  const isWrapper = error instanceof ActivityFailure || error instanceof ChildWorkflowFailure;
  if (isWrapper && error.cause !== undefined) return rootFailure(error.cause);
  const type = error instanceof ApplicationFailure ? (error.type ?? null) : null;
  return { type, message: reasonOf(error) };
}

/** Reads the last attempt's failure, which the server sends with a timeout and the SDK leaves unconverted. */
function lastFailureIn({ failure, message: timedOut }: TimeoutFailure, activity: string): RootFailure {
  const { message, applicationFailureInfo } = failure?.cause ?? {};
  if (message) return { type: applicationFailureInfo?.type ?? null, message };
  return { type: null, message: `${activity} was not done in time: ${timedOut}` };
}

import {
  ActivityCancellationType,
  ChildWorkflowCancellationType,
  executeChild,
  ParentClosePolicy,
  proxyActivities,
} from '@temporalio/workflow';
import type { ExternalCard } from '../../protocol/cards';
import { idSource } from '../id-source';

/** An activity or workflow of the user's. */
export type External = Pick<ExternalCard, 'kind' | 'type' | 'taskQueue'>;

export interface ExternalOptions {
  /** Time for all attempts. */
  readonly timeoutMs: number;
  /** How often an activity that fails is attempted; it can mark a failure as non-retryable. A workflow runs once. */
  readonly attempts: number;
  /** One line for Temporal's UI. */
  readonly summary: string;
}

/** Runs an activity or workflow of the user's, and returns what it returns. @throws ActivityFailure, ChildWorkflowFailure */
export function runExternal(
  { kind, type, taskQueue }: External,
  request: object,
  { timeoutMs, attempts, summary }: ExternalOptions,
): Promise<unknown> | undefined {
  if (kind === 'workflow') {
    return executeChild(type, {
      workflowId: idSource().uuid4(),
      args: [request],
      taskQueue,
      workflowExecutionTimeout: timeoutMs,
      cancellationType: ChildWorkflowCancellationType.WAIT_CANCELLATION_COMPLETED,
      // An agent may have to clean up: it is asked to stop, never terminated.
      parentClosePolicy: ParentClosePolicy.REQUEST_CANCEL,
      staticSummary: summary,
    });
  }
  const activities = proxyActivities<Record<string, (request: object) => Promise<unknown>>>({
    taskQueue,
    scheduleToCloseTimeout: timeoutMs,
    cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
    retry: { maximumAttempts: attempts },
    summary,
  });
  return activities[type]?.(request);
}

import {
  ChildWorkflowCancellationType,
  executeChild,
  ParentClosePolicy,
  workflowInfo,
} from '@temporalio/workflow';
import { GROUP_WORKFLOW } from '../../training/names';
import { groupQueue, groupWorkflowId, NIGHT_PRIORITY, trialWorkflowId } from '../../training/night-ids';
import type { GroupInput, GroupResult } from '../../training/train-input';

/**
 * Runs one group as a child workflow, behind everybody who waits for an answer: its activities inherit the priority.
 *
 * @throws ChildWorkflowFailure when it failed, or this night's own cancellation
 */
export function runGroup(input: GroupInput): Promise<GroupResult> {
  return executeChild(GROUP_WORKFLOW, {
    workflowId: input.purpose === 'training' ? groupWorkflowId(input) : trialWorkflowId(input),
    args: [input],
    ...(input.isApart && { taskQueue: groupQueue(workflowInfo().taskQueue) }),
    priority: { priorityKey: NIGHT_PRIORITY },
    // Like a child of a solve: nothing of a night goes on spending after its end.
    parentClosePolicy: ParentClosePolicy.REQUEST_CANCEL,
    cancellationType: ChildWorkflowCancellationType.WAIT_CANCELLATION_COMPLETED,
    staticSummary: `question ${input.question.index + 1}, ${input.plans} plans`,
  });
}

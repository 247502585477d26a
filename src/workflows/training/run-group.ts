import { ChildWorkflowCancellationType, executeChild, ParentClosePolicy } from '@temporalio/workflow';
import { describePolicy } from '../../training/evaluation';
import { cycleName } from '../../training/keys';
import { GROUP_WORKFLOW } from '../../training/names';
import { NIGHT_PRIORITY } from '../../training/night-ids';
import type { GroupInput, GroupResult } from '../../training/train-input';

/**
 * Runs one group as a child workflow, behind everybody who waits for an answer: its activities inherit the priority.
 *
 * @throws ChildWorkflowFailure when it failed, or this night's own cancellation
 */
export function runGroup(input: GroupInput): Promise<GroupResult> {
  return executeChild(GROUP_WORKFLOW, {
    workflowId: groupWorkflowId(input),
    args: [input],
    priority: { priorityKey: NIGHT_PRIORITY },
    // Like a child of a solve: nothing of a night goes on spending after its end.
    parentClosePolicy: ParentClosePolicy.REQUEST_CANCEL,
    cancellationType: ChildWorkflowCancellationType.WAIT_CANCELLATION_COMPLETED,
    staticSummary: `question ${input.question.index + 1}, ${input.plans} plans`,
  });
}

function groupWorkflowId({ trainRun, purpose, cycle, draw, writer }: GroupInput): string {
  const place = `${trainRun}-${cycleName(cycle)}-${draw}`;
  const who = describePolicy(writer).replace(/[^a-z0-9]+/gi, '-');
  return purpose === 'training' ? place : `${place}-${purpose}-${who}`;
}

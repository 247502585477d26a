import {
  ChildWorkflowCancellationType,
  executeChild,
  ParentClosePolicy,
  workflowInfo,
} from '@temporalio/workflow';
import type { BudgetShare } from '../../budget/shared-budget';
import { MAX_WALL_CLOCK_MS } from '../../protocol/messages';
import type { GroupInput, GroupResult } from '../contract';
import { groupInput, type GroupOptions, lackedMoney } from '../group-input';
import { GROUP_WORKFLOW } from '../names';
import { groupQueue, groupWorkflowId, NIGHT_PRIORITY, trialWorkflowId } from '../night-ids';
import type { Night } from './night';

/**
 * Starts a group, once money was set aside for it; what it did not use is given back at its end.
 *
 * @param together how many groups may be under way at once: each is given an equal part of what is left
 * @returns null where the money of the night is used up
 */
export function startGroup(
  night: Night,
  options: GroupOptions,
  together: number,
): Promise<GroupResult> | null {
  const share = night.share(together);
  if (share === null) return null;
  // A night is judged after its time as well.
  const wallClockMs = options.purpose === 'training' ? night.remainingMs() : MAX_WALL_CLOCK_MS;
  const { settings } = night.state.opened;
  return playGroup(night, share, groupInput(settings, options, { nanoUsd: share.nanoUsd, wallClockMs }));
}

/** Runs one group as a child workflow, behind people who wait for an answer: its activities inherit the priority. */
async function playGroup(night: Night, share: BudgetShare, input: GroupInput): Promise<GroupResult> {
  const { settings } = night.state.opened;
  let result: GroupResult | null = null;
  try {
    result = await executeChild<(input: GroupInput) => Promise<GroupResult>>(GROUP_WORKFLOW, {
      workflowId: input.purpose === 'training' ? groupWorkflowId(input) : trialWorkflowId(input),
      args: [input],
      taskQueue: settings.slots === null ? undefined : groupQueue(workflowInfo().taskQueue),
      priority: { priorityKey: NIGHT_PRIORITY },
      // Nothing of a night goes on spending after its end.
      parentClosePolicy: ParentClosePolicy.REQUEST_CANCEL,
      cancellationType: ChildWorkflowCancellationType.WAIT_CANCELLATION_COMPLETED,
      staticSummary: `question ${input.question.index + 1}, ${input.plans} plans`,
    });
    if (lackedMoney(settings, input, result)) night.runShort();
    return result;
  } finally {
    night.settle(share, result);
  }
}

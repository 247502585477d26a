import {
  ChildWorkflowCancellationType,
  executeChild,
  ParentClosePolicy,
  workflowInfo,
} from '@temporalio/workflow';
import type { BudgetShare } from '../../budget/shared-budget';
import { MAX_WALL_CLOCK_MS } from '../../protocol/messages';
import type { GroupInput, GroupResult } from '../contract';
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
  return share && playGroup(night, share, groupInput(night, options, share.nanoUsd));
}

async function playGroup(night: Night, share: BudgetShare, input: GroupInput): Promise<GroupResult> {
  let result: GroupResult | null = null;
  try {
    result = await runGroup(input);
    const hadOwnLimit = input.run.limits.nanoUsd === night.state.opened.settings.run.limits.nanoUsd;
    if (result.stoppedBy === 'cost' && !hadOwnLimit) night.runShort();
    return result;
  } finally {
    night.settle(share, result);
  }
}

/** Runs one group as a child workflow, behind people who wait for an answer: its activities inherit the priority. */
function runGroup(input: GroupInput): Promise<GroupResult> {
  return executeChild(GROUP_WORKFLOW, {
    workflowId: input.purpose === 'training' ? groupWorkflowId(input) : trialWorkflowId(input),
    args: [input],
    taskQueue: input.isApart ? groupQueue(workflowInfo().taskQueue) : undefined,
    priority: { priorityKey: NIGHT_PRIORITY },
    // Nothing of a night goes on spending after its end.
    parentClosePolicy: ParentClosePolicy.REQUEST_CANCEL,
    cancellationType: ChildWorkflowCancellationType.WAIT_CANCELLATION_COMPLETED,
    staticSummary: `question ${input.question.index + 1}, ${input.plans} plans`,
  });
}

export type GroupOptions = Pick<GroupInput, 'purpose' | 'cycle' | 'draw' | 'question' | 'writer' | 'workers'>;

/**
 * The input of a group, within its own limits and what was set aside for it. Plans to learn from are sampled as in
 * training; those that try a policy, as it would serve.
 */
function groupInput(night: Night, options: GroupOptions, share: number | null): GroupInput {
  const { settings } = night.state.opened;
  const { trainRun, seed, policy, reward, window, slots, recursion, run, verifier } = settings;
  const isTrial = options.purpose !== 'training';
  const { nanoUsd, wallClockMs } = run.limits;
  const most = Math.min(nanoUsd ?? Infinity, share ?? Infinity);
  return {
    ...options,
    trainRun,
    seed,
    plans: isTrial ? settings.gate.samples : settings.groupSize,
    temperature: isTrial ? policy.servingTemperature : policy.temperature,
    policy,
    reward,
    window,
    isApart: slots !== null,
    recursion,
    ...(verifier !== undefined && { verifier }),
    run: {
      ...run,
      limits: {
        ...run.limits,
        nanoUsd: most === Infinity ? null : most,
        // A night is judged after its time as well.
        wallClockMs: Math.max(1, Math.min(wallClockMs, isTrial ? MAX_WALL_CLOCK_MS : night.remainingMs())),
      },
    },
  };
}

import {
  ChildWorkflowCancellationType,
  executeChild,
  ParentClosePolicy,
  workflowInfo,
} from '@temporalio/workflow';
import { MAX_WALL_CLOCK_MS } from '../../protocol/messages';
import type { GroupInput, GroupResult } from '../contract';
import { GROUP_WORKFLOW } from '../names';
import { groupQueue, groupWorkflowId, NIGHT_PRIORITY, trialWorkflowId } from '../night-ids';
import type { Night } from './night';

/** Runs one group as a child workflow, behind people who wait for an answer: its activities inherit the priority. */
export function runGroup(input: GroupInput): Promise<GroupResult> {
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

type GroupOptions = Pick<GroupInput, 'purpose' | 'cycle' | 'draw' | 'question' | 'writer' | 'workers'>;

/**
 * The input of a group, within its own limits and its part of what the night may still use. Plans to learn from are
 * sampled as in training; those that try a policy, as it would serve.
 *
 * @param side how many groups may be under way together: each is given an equal part of what is left
 */
export function groupInput(
  night: Night,
  { side, ...options }: GroupOptions & { readonly side: number },
): GroupInput {
  const { settings } = night.state.opened;
  const { trainRun, seed, policy, reward, window, slots, recursion, run } = settings;
  const isTrial = options.purpose !== 'training';
  const { nanoUsd, wallClockMs } = run.limits;
  const left = night.remainingNanoUsd();
  const most = Math.min(nanoUsd ?? Infinity, left === null ? Infinity : Math.floor(left / side));
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
    recursion: isTrial ? { ...recursion, rounds: 1 } : recursion,
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

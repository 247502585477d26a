import {
  ChildWorkflowCancellationType,
  executeChild,
  ParentClosePolicy,
  workflowInfo,
} from '@temporalio/workflow';
import type { GroupInput, GroupResult } from '../contract';
import { GROUP_WORKFLOW } from '../names';
import { groupQueue, groupWorkflowId, NIGHT_PRIORITY, trialWorkflowId } from '../night-ids';
import type { Night } from './night';

/**
 * Runs one group as a child workflow, behind people who wait for an answer: its activities inherit the priority.
 *
 * @throws ChildWorkflowFailure when it failed, or this night's own cancellation
 */
export function runGroup(input: GroupInput): Promise<GroupResult> {
  return executeChild(GROUP_WORKFLOW, {
    workflowId: input.purpose === 'training' ? groupWorkflowId(input) : trialWorkflowId(input),
    args: [input],
    taskQueue: input.isApart ? groupQueue(workflowInfo().taskQueue) : undefined,
    priority: { priorityKey: NIGHT_PRIORITY },
    // Like a child of a solve: nothing of a night goes on spending after its end.
    parentClosePolicy: ParentClosePolicy.REQUEST_CANCEL,
    cancellationType: ChildWorkflowCancellationType.WAIT_CANCELLATION_COMPLETED,
    staticSummary: `question ${input.question.index + 1}, ${input.plans} plans`,
  });
}

/** What differs between the groups of a night. */
export interface GroupOptions extends Pick<
  GroupInput,
  'purpose' | 'cycle' | 'draw' | 'question' | 'writer' | 'workers'
> {
  /** Groups that may be under way together: each is given as much of what is left as the others. */
  readonly side: number;
}

/**
 * The input of a group, within its own limits and its part of what the night may still use. Plans to learn from are
 * sampled as training wants them; those that try a policy, as it would serve.
 */
export function groupInput(night: Night, { side, ...options }: GroupOptions): GroupInput {
  const { settings } = night.opened;
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
        wallClockMs: isTrial ? wallClockMs : Math.max(1, Math.min(wallClockMs, night.remainingMs())),
      },
    },
  };
}

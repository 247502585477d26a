import {
  ChildWorkflowCancellationType,
  executeChild,
  ParentClosePolicy,
  workflowInfo,
} from '@temporalio/workflow';
import type { RunWorker } from '../../protocol/run';
import type { QuestionRef } from '../contract';
import type { GroupInput, GroupResult, PolicyRef, Tried } from '../input';
import { GROUP_WORKFLOW } from '../names';
import { groupQueue, groupWorkflowId, NIGHT_PRIORITY, trialWorkflowId } from '../night-ids';
import { meanOf } from '../statistics';
import { inWindow } from './in-window';
import type { Night } from './night';

/**
 * Tries a policy on held-out questions, each time under the same names and seeds: two policies that write the same plan
 * get the same answers, so that their difference is their own.
 */
export async function tryPolicy(
  night: Night,
  purpose: 'evaluation' | 'canary',
  writer: PolicyRef,
  cycle: number,
  questions: readonly QuestionRef[],
): Promise<{ readonly tried: Tried; readonly meanReward: number | null }> {
  const { run, questions: side } = night.opened.settings;
  const groups = await inWindow(questions, side, (question) =>
    runGroup(
      groupInput(night, {
        purpose,
        cycle,
        draw: question.index,
        question,
        writer,
        workers: run.workers,
        side,
      }),
    ),
  );
  for (const { spentNanoUsd } of groups) night.spend(spentNanoUsd);
  const keys = groups.flatMap(({ rounds }) => rounds.map(({ key }) => key));
  return { tried: { policy: writer, groups: keys }, meanReward: meanReward(groups) };
}

/** All of them. */
export function heldOutQuestions({ opened: { heldOut } }: Night): readonly QuestionRef[] {
  return Array.from({ length: heldOut.count }, (_, index) => ({ set: heldOut.set, index }));
}

function meanReward(groups: readonly GroupResult[]): number | null {
  const rewards = groups
    .flatMap(({ rounds }) => rounds.flatMap(({ rewards }) => rewards))
    .filter((reward) => reward !== null);
  return meanOf(rewards);
}

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

/** The part of a group's input that differs between the groups of a night. */
export interface GroupOptions {
  readonly purpose: GroupInput['purpose'];
  readonly cycle: number;
  readonly draw: number;
  readonly question: QuestionRef;
  readonly writer: PolicyRef;
  /** In the order of the prompt. */
  readonly workers: readonly RunWorker[];
  /** Groups that may be under way together: each is given as much of what is left as the others. */
  readonly side: number;
}

/**
 * A group as a night asks for it: within its own limits, and within its part of what the night may still use. To learn,
 * plans are sampled as training wants them; to try a policy, as it would serve.
 */
export function groupInput(night: Night, { side, ...wish }: GroupOptions): GroupInput {
  const { settings } = night.opened;
  const { trainRun, seed, policy, reward, window, slots, recursion, run } = settings;
  const isTrial = wish.purpose !== 'training';
  const { nanoUsd, wallClockMs } = run.limits;
  const left = night.remainingNanoUsd();
  const most = Math.min(nanoUsd ?? Infinity, left === null ? Infinity : Math.floor(left / side));
  return {
    ...wish,
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

import { describePolicy } from './evaluation';
import { cycleName } from './keys';
import type { GroupId } from './rollout';
import type { GroupInput } from './train-input';

/** Workflow id of a training run's night: the same for each, so that no two are ever under way together. */
export function nightWorkflowId(trainRun: string): string {
  return `train-${trainRun}`;
}

/** Temporal appends the time that a run of the schedule was due at. */
export function nightlyWorkflowId(trainRun: string): string {
  return `nightly-${trainRun}`;
}

/** Id of the schedule that starts a training run's nights. */
export function scheduleIdOf(trainRun: string): string {
  return `train-${trainRun}`;
}

/** Nights give way to people who wait: Temporal's last priority (https://docs.temporal.io/develop/task-queue-priority-fairness). */
export const NIGHT_PRIORITY = 5;

/** Where groups wait, if nights have slots of their own. Never change how it is formed. */
export function groupQueue(taskQueue: string): string {
  return `${taskQueue}-nights`;
}

/** Workflow id of a group to learn from. */
export function groupWorkflowId({
  trainRun,
  cycle,
  draw,
}: Pick<GroupId, 'trainRun' | 'cycle' | 'draw'>): string {
  return `${trainRun}-${cycleName(cycle)}-${draw}`;
}

/** Workflow id of a group by which a policy is tried. */
export function trialWorkflowId(trial: GroupInput): string {
  const who = describePolicy(trial.writer).replace(/[^a-z0-9]+/gi, '-');
  return `${groupWorkflowId(trial)}-${trial.purpose}-${who}`;
}

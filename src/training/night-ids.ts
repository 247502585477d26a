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

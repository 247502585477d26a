import type { GroupId, RolloutId } from './records';

/** Workflow id of a training run's night: the same for each, so that no two are ever under way together. */
export const nightWorkflowId = (trainRun: string): string => `train-${trainRun}`;

/** Temporal appends the time that it was due at. */
export const nightlyWorkflowId = (trainRun: string): string => `nightly-${trainRun}`;

/** Id of the schedule that starts a training run's nights. */
export const scheduleIdOf = (trainRun: string): string => `train-${trainRun}`;

/** Nights give way to people who wait: Temporal's last priority (https://docs.temporal.io/develop/task-queue-priority-fairness). */
export const NIGHT_PRIORITY = 5;

/** Task queue of groups, if nights have slots of their own. Never change how it is formed. */
export const groupQueue = (taskQueue: string): string => `${taskQueue}-nights`;

/** Workflow id of a group to learn from. */
export const groupWorkflowId = (group: Pick<GroupId, 'trainRun' | 'cycle' | 'draw'>): string =>
  `${group.trainRun}-${cycleName(group.cycle)}-${group.draw}`;

/** Workflow id of a group by which a policy is tried. */
export function trialWorkflowId(trial: Omit<GroupId, 'question'> & { readonly writer: PolicyRef }): string {
  const who = describePolicy(trial.writer).replace(/[^a-z0-9]+/gi, '-');
  return `${groupWorkflowId(trial)}-${trial.purpose}-${who}`;
}

/** Whether this process knows the time zone, e.g. `Europe/Berlin` or `UTC`. */
export function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

/**
 * The date that a calendar in the time zone shows at an instant, e.g. `2026-11-21`: what a night is named by, so that
 * the hour which a clock change repeats, a retry and a backfill all mean the same night.
 */
export function nightDate(at: Date, timeZone: string): string {
  const fields = { year: 'numeric', month: '2-digit', day: '2-digit' } as const;
  const format = new Intl.DateTimeFormat('en', { timeZone, calendar: 'iso8601', ...fields });
  const parts = new Map(format.formatToParts(at).map(({ type, value }) => [type, value]));
  return [parts.get('year'), parts.get('month'), parts.get('day')].join('-');
}

export function isNightDate(text: string): boolean {
  const time = /^\d{4}-\d{2}-\d{2}$/.test(text) ? Date.parse(`${text}T00:00:00Z`) : NaN;
  // The parser turns 30 February into 2 March.
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text);
}

/** With their place in the plan, it names the calls of a rollout. */
export function rolloutIdentity({ trainRun, purpose, cycle, question, draw, rollout }: RolloutId): string {
  return JSON.stringify([trainRun, purpose, cycle, question, draw, rollout]);
}

/** A checkpoint, by training run and name. */
export interface CheckpointRef {
  readonly trainRun: string;
  readonly name: string;
}

/** A checkpoint as people and pointers name it: `<training run>/<name>`. */
export function checkpointId({ trainRun, name }: CheckpointRef): string {
  return `${trainRun}/${name}`;
}

/** Writer of plans: a checkpoint, or the prompted Conductor of `conductor.yaml`, which is no checkpoint. */
export type PolicyRef = CheckpointRef | 'prompted';

/** Name of a policy in sentences and records: `<training run>/<name>`, or `the prompted Conductor`. */
export function describePolicy(policy: PolicyRef): string {
  return policy === 'prompted' ? 'the prompted Conductor' : checkpointId(policy);
}

/** Reads what `checkpointId` writes; null for anything else. Both parts are fit to be part of a key of the store. */
export function readCheckpointId(text: string): CheckpointRef | null {
  const [, trainRun, name] = /^([a-z0-9][a-z0-9-]{0,62})\/([a-z0-9][a-z0-9-]{0,62})$/.exec(text) ?? [];
  return trainRun === undefined || name === undefined ? null : { trainRun, name };
}

/** Sorts as the number does. */
export const sixDigits = (number: number): string => String(number).padStart(6, '0');

/** Name of the checkpoint that a cycle's update makes. */
export const cycleName = (cycle: number): string => sixDigits(cycle);

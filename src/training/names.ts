// Training names that cross process boundaries. Workflow histories contain them: never rename one.

export const TRAIN_WORKFLOW = 'conductorTrain';
export const NIGHTLY_WORKFLOW = 'conductorTrainNightly';
export const GROUP_WORKFLOW = 'conductorTrainGroup';
export const WARM_START_WORKFLOW = 'conductorWarmStart';
export const EXPORT_WORKFLOW = 'conductorExportCheckpoint';

export const PAUSE_SIGNAL = 'pauseTraining';
export const RESUME_SIGNAL = 'resumeTraining';
export const STOP_SIGNAL = 'stopTraining';
export const SET_BUDGET_UPDATE = 'setBudget';
export const NIGHT_PROGRESS_QUERY = 'progress';

export const CANNOT_LEARN = 'Night.CannotLearn';

export const CHECK_PLACES = 'conductor.train.checkPlaces';
export const OPEN_NIGHT = 'conductor.train.openNight';
export const SAMPLE_PLANS = 'conductor.train.samplePlans';
export const KEEP_GROUP = 'conductor.train.keepGroup';
export const WRITE_BATCH = 'conductor.train.writeBatch';
export const KEEP_RIGHT_PLANS = 'conductor.train.keepRightPlans';
export const WRITE_EXAMPLES = 'conductor.train.writeExamples';
export const KEEP_CHECKPOINT = 'conductor.train.keepCheckpoint';
export const CLOSE_CYCLE = 'conductor.train.closeCycle';
export const FIND_BASELINE = 'conductor.train.findBaseline';
export const JUDGE_CANDIDATE = 'conductor.train.judgeCandidate';
export const JUDGE_CANARY = 'conductor.train.judgeCanary';
export const CLOSE_NIGHT = 'conductor.train.closeNight';
export const FORGET_CHECKPOINTS = 'conductor.train.forgetCheckpoints';

export const INIT = 'conductor.trainer.init';
export const WARM_START = 'conductor.trainer.warmStart';
export const PREFLIGHT = 'conductor.trainer.preflight';
export const UPDATE = 'conductor.trainer.update';
export const SCORE = 'conductor.trainer.score';
export const PUBLISH = 'conductor.trainer.publish';
export const RETIRE = 'conductor.trainer.retire';
export const COLLECT = 'conductor.trainer.collect';
export const EXPORT = 'conductor.trainer.export';

export const TRAINER_TASK_QUEUE = 'conductor-trainer';

/** Upper bounds for nights, cycles and groups; an input beyond them is rejected as a mistake. */
export const MOST = { cycles: 10_000, questions: 1_000, draws: 10_000, plans: 1_024 } as const;

export const MAX_CYCLE = 999_999;

/** Workflow id that all nights of a training run share, so that two never run at once. */
export const nightWorkflowId = (trainRun: string): string => `train-${trainRun}`;

/**
 * Returns the `traceparent` below which all spans of a cycle hang, a trace for each cycle of a night: its trace id is the
 * cycle's number and the rest of the night's run id, which workflows can tell without another command.
 * @param runId of the night, a UUID
 */
export function cycleTraceparent(runId: string, cycle: number): string {
  const digits = runId.replaceAll('-', '');
  return `00-${sixDigits(cycle)}${digits.slice(6)}-${digits.slice(-16)}-01`;
}

export const nightlyWorkflowId = (trainRun: string): string => `nightly-${trainRun}`;

export const scheduleIdOf = (trainRun: string): string => `train-${trainRun}`;

/** Lowest priority: waiting users go first (https://docs.temporal.io/develop/task-queue-priority-fairness). */
export const NIGHT_PRIORITY = 5;

/** Task queue of groups if nights have their own slots. Never change its format. */
export const groupQueue = (taskQueue: string): string => `${taskQueue}-nights`;

interface DrawnGroup {
  readonly trainRun: string;
  readonly cycle: number;
  readonly draw: number;
}

export type RolloutId = DrawnGroup & {
  readonly purpose: string;
  readonly question: string;
  readonly rollout: number;
};

export const groupWorkflowId = (group: DrawnGroup): string =>
  `${group.trainRun}-${sixDigits(group.cycle)}-${group.draw}`;

export function trialWorkflowId(
  trial: DrawnGroup & { readonly purpose: string; readonly writer: PolicyRef },
): string {
  const who = describePolicy(trial.writer).replace(/[^a-z0-9]+/gi, '-');
  return `${groupWorkflowId(trial)}-${trial.purpose}-${who}`;
}

export function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

/** Local date that names a night, e.g. `2026-11-21`; an hour that a clock change repeats stays in the same night. */
export function nightDate(at: Date, timeZone: string): string {
  return at.toLocaleDateString('sv', { timeZone });
}

/** Identifies a rollout; with a step's place in the plan it names each call, unchanged after an interruption. */
export function rolloutIdentity({ trainRun, purpose, cycle, question, draw, rollout }: RolloutId): string {
  return JSON.stringify([trainRun, purpose, cycle, question, draw, rollout]);
}

export interface CheckpointRef {
  readonly trainRun: string;
  readonly name: string;
}

export function checkpointId({ trainRun, name }: CheckpointRef): string {
  return `${trainRun}/${name}`;
}

/** Writer of plans: a checkpoint, or the prompted Conductor of `conductor.yaml`. */
export type PolicyRef = CheckpointRef | 'prompted';

/** Name of a policy in sentences and records: `<training run>/<name>`, or `the prompted Conductor`. */
export function describePolicy(policy: PolicyRef): string {
  return policy === 'prompted' ? 'the prompted Conductor' : checkpointId(policy);
}

/** Parses what `checkpointId` returns; null for anything else. Both parts are valid in store keys. */
export function readCheckpointId(text: string): CheckpointRef | null {
  const [, trainRun, name] = /^([a-z0-9][a-z0-9-]{0,62})\/([a-z0-9][a-z0-9-]{0,62})$/.exec(text) ?? [];
  return trainRun === undefined || name === undefined ? null : { trainRun, name };
}

/** Zero-padded number, which sorts numerically; a cycle's names the checkpoint that its update makes. */
export const sixDigits = (number: number): string => String(number).padStart(6, '0');

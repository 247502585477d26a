// Names of training that cross process borders. They are written into histories: never rename one.

/** Workflow type of one night of training. */
export const TRAIN_WORKFLOW = 'conductorTrain';
/** Workflow type that a schedule starts: it makes one night of its time, unless one is under way. */
export const NIGHTLY_WORKFLOW = 'conductorTrainNightly';
/** Workflow type of one group: the rollouts of one question in one cycle. */
export const GROUP_WORKFLOW = 'conductorTrainGroup';
/** Workflow type that makes a first checkpoint of examples, for a person. */
export const WARM_START_WORKFLOW = 'conductorWarmStart';
/** Workflow type that has the trainer write a checkpoint as a model of its own, for a person. */
export const EXPORT_WORKFLOW = 'conductorExportCheckpoint';

export const PAUSE_SIGNAL = 'pauseTraining';
export const RESUME_SIGNAL = 'resumeTraining';
export const STOP_SIGNAL = 'stopTraining';
/** Update: changes the budget for the rest of the night, and answers with what now holds. */
export const SET_BUDGET_UPDATE = 'setBudget';
export const PROGRESS_QUERY = 'progress';

/** Failure type of a night whose policy earned nothing in a whole cycle. */
export const CANNOT_LEARN = 'Night.CannotLearn';

/** Activities of the TypeScript worker. */
export const CHECK_PLACES = 'conductor.train.checkPlaces';
export const OPEN_NIGHT = 'conductor.train.openNight';
export const SAMPLE_PLANS = 'conductor.train.samplePlans';
export const KEEP_GROUP = 'conductor.train.keepGroup';
export const WRITE_BATCH = 'conductor.train.writeBatch';
export const KEEP_CHECKPOINT = 'conductor.train.keepCheckpoint';
export const CLOSE_CYCLE = 'conductor.train.closeCycle';
export const FIND_BASELINE = 'conductor.train.findBaseline';
export const JUDGE_CANDIDATE = 'conductor.train.judgeCandidate';
export const JUDGE_CANARY = 'conductor.train.judgeCanary';
export const CLOSE_NIGHT = 'conductor.train.closeNight';
export const FORGET_CHECKPOINTS = 'conductor.train.forgetCheckpoints';

/** Activities of the trainer, a worker of its own. */
export const INIT = 'conductor.trainer.init';
export const WARM_START = 'conductor.trainer.warmStart';
export const PREFLIGHT = 'conductor.trainer.preflight';
export const UPDATE = 'conductor.trainer.update';
export const SCORE = 'conductor.trainer.score';
export const PUBLISH = 'conductor.trainer.publish';
export const RETIRE = 'conductor.trainer.retire';
export const COLLECT = 'conductor.trainer.collect';
export const EXPORT = 'conductor.trainer.export';

/** Task queue of the trainer where the configuration names no other. */
export const TRAINER_TASK_QUEUE = 'conductor-trainer';

/** The most that a night, a cycle and a group may have; beyond, an input is taken for a mistake. */
export const MOST = { cycles: 10_000, questions: 1_000, draws: 10_000, plans: 1_024 } as const;

/** Cycles are numbered over all nights, and their names have six digits. */
export const MAX_CYCLE = 999_999;

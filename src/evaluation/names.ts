// Names of evaluations that cross process borders. They are written into histories: never rename one.

/** Workflow type of one evaluation: every method on every question of a set. */
export const EVALUATE_WORKFLOW = 'conductorEvaluate';
/** Workflow type of one question of it, under all methods. */
export const QUESTION_WORKFLOW = 'conductorEvaluateQuestion';

export const PROGRESS_QUERY = 'progress';

export const OPEN_QUESTION = 'conductor.evaluate.openQuestion';
export const GRADE_ANSWERS = 'conductor.evaluate.gradeAnswers';
export const COMPARE_ANSWERS = 'conductor.evaluate.compareAnswers';
export const KEEP_RESULT = 'conductor.evaluate.keepResult';

/** Evaluations give way to people who wait: Temporal's last priority. */
export const EVALUATION_PRIORITY = 5;

/** The most that one evaluation may have; beyond, an input is taken for a mistake. */
export const MOST = { questions: 1_000_000, methods: 64, workers: 256, name: 200, window: 64 } as const;

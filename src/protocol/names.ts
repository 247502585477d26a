/** Names that cross process borders. They are written into histories: never rename one. */

/** Workflow type of a solve. */
export const SOLVE_WORKFLOW = 'solve';

/** Query that returns the live trace, texts by reference. */
export const STATE_QUERY = 'state';

/** Activity types carry a prefix, since plugins on one worker share one name space. */
export const WRITE_PLAN = 'conductor.writePlan';
export const CALL_WORKER = 'conductor.callWorker';
export const KEEP_TEXT = 'conductor.keepText';
export const READ_TEXT = 'conductor.readText';

/** Task queue of runs and calls where the configuration names no other. */
export const DEFAULT_TASK_QUEUE = 'conductor';

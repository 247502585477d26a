// Names that cross process borders. They are written into histories: never rename one.

export const SOLVE_WORKFLOW = 'conductorSolve';
/** Solve within one of our runs, such as a review: the same function by a second name, so that lists can leave it out. */
export const SOLVE_PART_WORKFLOW = 'conductorSolvePart';

export const SOLVE_WORKFLOWS: readonly string[] = [SOLVE_WORKFLOW, SOLVE_PART_WORKFLOW];

export const STATE_QUERY = 'state';
export const LIMITS_QUERY = 'limits';

// Signals: no answer, never refused.
export const SET_MAX_DEPTH_SIGNAL = 'setMaxDepth';
export const ADD_HINT_SIGNAL = 'addHint';

// Updates: validated before they are accepted, and answered.
export const SET_LIMITS_UPDATE = 'setLimits';
export const APPROVE_PLAN_UPDATE = 'approvePlan';
export const EDIT_PLAN_UPDATE = 'editPlan';
export const REJECT_PLAN_UPDATE = 'rejectPlan';
export const DECIDE_CALL_UPDATE = 'decideCall';

export { CONDUCTOR_ID } from '../plan/plan';

// Activity types carry a prefix, since plugins on one worker share one namespace.
export const RESOLVE_RUN = 'conductor.resolveRun';
export const CHECK_RUN = 'conductor.checkRun';
export const WRITE_PLAN = 'conductor.writePlan';
export const CALL_WORKER = 'conductor.callWorker';
export const LIST_TOOLS = 'conductor.listTools';
export const CHECK_ARGUMENTS = 'conductor.checkArguments';
export const CALL_TOOL = 'conductor.callTool';
export const BOOK_CALL = 'conductor.bookCall';
export const CHECK_ANSWER = 'conductor.checkAnswer';
export const KEEP_TEXT = 'conductor.keepText';
export const READ_TEXT = 'conductor.readText';

/** Global variable of the sandbox, set by a worker without keys: see `workflows/encoded-failures.ts`. */
export const PLAIN_FAILURES = 'conductorPlainFailures';

/** Task queue of runs and calls unless the configuration names another. */
export const DEFAULT_TASK_QUEUE = 'conductor';

/** Returns the task queue of a provider's models, if each provider has its own. Never change the format. */
export function providerQueue(taskQueue: string, provider: string): string {
  return `${taskQueue}-${provider}`;
}

/** What follows the whole id of a run in the ids of its retries and children. */
export const SUFFIXES_OF_ID = /^(?:-retry-[0-9a-z]{6})?(?:-r\d{1,9}s\d{1,9}|-review)*$/;

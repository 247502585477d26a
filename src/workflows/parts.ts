export { checkGiven, configurationActivities, storeActivities, textOf } from './activities';
export { isOwnCancellation, limitIn, orFail } from './failures';
export { hearSignal } from './hear-signal';
export { inWindow } from './in-window';
export { Limits } from './limits';
export { obtainPlan } from './make-plan';
export { runGiven, runWithin } from './open-run';
export type { RunContext } from './run-context';
export { lastOutputOf, runPlan } from './run-plan';

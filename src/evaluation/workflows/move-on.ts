import { makeContinueAsNewFunc, type Workflow, workflowInfo } from '@temporalio/workflow';

// Long loops, of evaluations and of nights, go on as new runs between two of their rounds.

/** Events that a run has once it has done a round. One that has done none would begin again and again. */
const EVENTS_OF_A_ROUND = 20;

/** Whether a loop should move on: its history is long, or the version that it stays on is no longer the current one. */
export function shouldMoveOn(): boolean {
  const { continueAsNewSuggested, targetWorkerDeploymentVersionChanged, historyLength } = workflowInfo();
  const isOutdated = targetWorkerDeploymentVersionChanged && historyLength >= EVENTS_OF_A_ROUND;
  return continueAsNewSuggested || isOutdated;
}

/** Goes on as a new run on the current version of the workers: else a pinned loop keeps an old one alive till its end. */
export function moveOn<Loop extends Workflow>(...args: Parameters<Loop>): Promise<never> {
  return makeContinueAsNewFunc<Loop>({ initialVersioningBehavior: 'AUTO_UPGRADE' })(...args);
}

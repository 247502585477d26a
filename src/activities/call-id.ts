import { createHash } from 'node:crypto';
import type { Info } from '@temporalio/activity';
import type { RolloutCall } from '../training/rollout';

/**
 * The name of one call: SHA-256 over workflow id, run id, activity id and the request itself.
 *
 * Retries of an activity share it, so that an answer kept under it is found by whoever tries again; another
 * activity, run or request never does. A call of a rollout is named by its place in the training run instead of by
 * anything of Temporal's, so that whoever plays an interrupted cycle once more finds what was answered.
 */
export function callIdOf(
  info: Pick<Info, 'workflowExecution' | 'activityId'>,
  request: unknown,
  rollout?: RolloutCall,
): string {
  return sha256Of(
    rollout === undefined ? [...executionOf(info), info.activityId, request] : [rollout, request],
  );
}

function executionOf({ workflowExecution }: Pick<Info, 'workflowExecution'>): [string, string] {
  return [workflowExecution?.workflowId ?? '', workflowExecution?.runId ?? ''];
}

function sha256Of(identity: unknown): string {
  return createHash('sha256').update(JSON.stringify(identity, sortedKeys)).digest('hex');
}

/** JSON with keys in one order, so that equal requests have equal bytes. */
function sortedKeys(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}

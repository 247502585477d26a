import { createHash } from 'node:crypto';
import type { Info } from '@temporalio/activity';

/**
 * The name of one call: SHA-256 over workflow id, run id, activity id and the request itself.
 *
 * Retries of an activity share it, so that an answer kept under it is found by whoever tries again; another
 * activity, run or request never does.
 */
export function callIdOf(info: Pick<Info, 'workflowExecution' | 'activityId'>, request: unknown): string {
  const { workflowId, runId } = info.workflowExecution ?? { workflowId: '', runId: '' };
  const identity = [workflowId, runId, info.activityId, request];
  return createHash('sha256').update(JSON.stringify(identity, sortedKeys)).digest('hex');
}

/** JSON with keys in one order, so that equal requests have equal bytes. */
function sortedKeys(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}

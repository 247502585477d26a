import { ActivityCancellationType, proxyActivities } from '@temporalio/workflow';
import type { ConductorActivities } from '../../protocol/activity-contract';
import { CALL_TOOL } from '../../protocol/names';
import type { ToolAnswer, ToolRequest } from '../../protocol/tool-use';
import { idSource } from '../id-source';
import type { RunContext } from '../run-context';

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

/** Returns an id that every vendor's client takes back unchanged, and that nobody guesses. */
export function newCallerId(): string {
  const source = idSource();
  const draw = (): string => ALPHABET.charAt(Math.floor(source.random() * ALPHABET.length));
  return `cdr_${Array.from({ length: 20 }, draw).join('')}`;
}

/**
 * Waits until the caller gives the result of a call, with the wall clock stopped. The activity of the call ends when a
 * client completes it by its id, so that the wait needs no process of ours.
 * @throws ActivityFailure if no result comes in time
 */
export function askCaller(
  { limits }: RunContext,
  request: ToolRequest,
  { timeoutMs }: { readonly timeoutMs: number },
): Promise<ToolAnswer> {
  const activities = proxyActivities<ConductorActivities>({
    activityId: request.callerId,
    scheduleToCloseTimeout: timeoutMs,
    cancellationType: ActivityCancellationType.TRY_CANCEL,
    summary: request.tool.tool,
  });
  return limits.stopClock(() => activities[CALL_TOOL](request));
}

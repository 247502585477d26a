import { ActivityCancellationType, proxyActivities, workflowInfo } from '@temporalio/workflow';
import type { ConductorActivities } from '../../protocol/activity-contract';
import { CALL_TOOL, READ_TEXT } from '../../protocol/names';
import { argumentsIn } from '../../protocol/parts';
import { resultText } from '../../protocol/tool-result';
import type { ToolCard } from '../../protocol/tool-cards';
import { INLINE_CALL_BYTES, type ToolAnswer, type ToolRequest } from '../../protocol/tool-use';
import { keepIfLong, storeActivities } from '../activities';
import { runExternal } from '../external/run-external';
import type { RunContext } from '../run-context';
import { askCaller } from './ask-caller';

/** Makes a call of a tool. @throws ActivityFailure, ChildWorkflowFailure; ApplicationFailure if no time is left for it */
export function sendCall(context: RunContext, request: ToolRequest): Promise<ToolAnswer> {
  const { run, limits, toolBox } = context;
  const { tool } = request;
  const leftMs = limits.timeToStart();
  const card = toolBox.cardOf(tool);
  if (card?.kind === 'caller') return askCaller(context, request, card);
  if (card !== undefined && card.kind !== 'mcp') return sendToOwn(context, request, card, leftMs);
  const activities = proxyActivities<ConductorActivities>({
    // The activity itself ends a call at its tool's timeout; this bounds waiting and attempts.
    scheduleToCloseTimeout: leftMs,
    heartbeatTimeout: run.heartbeatMs,
    cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
    retry: { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '30s' },
    summary: tool.name,
  });
  return activities[CALL_TOOL](request);
}

/** Temporal itself keeps that a call of the user's activity or workflow began, and what it returned. */
async function sendToOwn(
  { run }: RunContext,
  request: ToolRequest,
  card: Extract<ToolCard, { readonly kind: 'activity' | 'workflow' }>,
  leftMs: number,
): Promise<ToolAnswer> {
  const timeoutMs = Math.min(card.timeoutMs, leftMs);
  const written =
    typeof request.input === 'string'
      ? request.input
      : await storeActivities('read the arguments')[READ_TEXT](request.input, run.storeId);
  const whole: ToolRequest = { ...request, arguments: argumentsIn(written) ?? {} };
  const { kind, type, taskQueue = workflowInfo().taskQueue } = card;
  const returned = await runExternal({ kind, type, taskQueue }, whole, {
    timeoutMs,
    // Only the operator knows whether a call may happen twice.
    attempts: card.repeatable ? 3 : 1,
    summary: request.tool.name,
  });
  const text = resultText(returned, request.resultBytes);
  return { outcome: 'ok', output: await keepIfLong(text, run.storeId, INLINE_CALL_BYTES) };
}

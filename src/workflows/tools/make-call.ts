import { NOTHING } from '../../budget/amount';
import type { Call } from '../../protocol/solve';
import type { ToolAnswer, ToolRequest } from '../../protocol/tool-use';
import { failedAnswer, paidCalls, toolCalled, toolEnded } from '../../trace/tool-events';
import { isOwnCancellation, now } from '../failures';
import { openRow } from '../ledger/open-row';
import type { RunContext } from '../run-context';
import { sendCall } from './send-call';

/**
 * Makes a call of a tool, and records it. Whatever fails is told to the model. The price of a call, which fits the
 * limits, is set aside and stands in the ledger before anything is sent. One function, since the SDK takes a stack trace of
 * each promise that a workflow makes.
 * @throws only the run's own cancellation
 */
export async function makeCall(context: RunContext, request: ToolRequest): Promise<ToolAnswer> {
  const { recorder, toolBox } = context;
  const [opened] = paidCalls(request, { outcome: 'unknown' });
  const book = opened && (await openBooking(context, request, opened));
  recorder.record(toolCalled(request, now()));
  let answer: ToolAnswer;
  let cancelled: Error | null = null;
  try {
    answer = await sendCall(context, request);
  } catch (error) {
    const { kind } = toolBox.cardOf(request.tool) ?? {};
    answer = failedAnswer(error, request, kind === 'mcp' || kind === 'caller');
    if (isOwnCancellation(error)) cancelled = error;
  }
  const paid = paidCalls(request, answer);
  recorder.record(toolEnded(request, answer, now(), paid));
  if (book !== undefined) await book(paid[0]);
  if (cancelled !== null) throw cancelled;
  return answer;
}

/** Sets the price of a call aside, and opens its ledger row. Returns what books how the call ended. */
async function openBooking(
  { limits }: RunContext,
  request: ToolRequest,
  opened: Call,
): Promise<(paid: Call | undefined) => Promise<void>> {
  const settle = limits.hold({ ...NOTHING, nanoUsd: opened.nanoUsd ?? 0 });
  try {
    const complete = await openRow(request, opened);
    return async (paid = opened) => {
      await complete(paid);
      settle({ ...NOTHING, nanoUsd: paid.nanoUsd ?? 0 });
    };
  } catch (error) {
    settle(NOTHING);
    throw error;
  }
}

import { NOTHING } from '../../budget/amount';
import type { ToolAnswer, ToolRequest } from '../../protocol/tool-use';
import { failedAnswer, paidCalls, toolCalled, toolEnded } from '../../trace/tool-events';
import { isOwnCancellation, now } from '../failures';
import { openRow } from '../ledger/open-row';
import type { RunContext } from '../run-context';
import { sendCall } from './send-call';

/** How a call ended; `cancelled`: by the cancellation of its run. */
interface EndedCall {
  readonly answer: ToolAnswer;
  readonly cancelled?: Error;
}

/**
 * Makes a call of a tool, and records it. Whatever fails is told to the model. The price of a call, which fits the
 * limits, is set aside and stands in the ledger before anything is sent.
 * @throws only the run's own cancellation
 */
export async function makeCall(context: RunContext, request: ToolRequest): Promise<ToolAnswer> {
  const [opened] = paidCalls(request, { outcome: 'unknown' });
  if (opened === undefined) return answerIn(await sendAndRecord(context, request));
  const settle = context.limits.hold({ ...NOTHING, nanoUsd: opened.nanoUsd ?? 0 });
  let spent = 0;
  try {
    const complete = await openRow(request, opened);
    const ended = await sendAndRecord(context, request);
    const [paid = opened] = paidCalls(request, ended.answer);
    spent = paid.nanoUsd ?? 0;
    await complete(paid);
    return answerIn(ended);
  } finally {
    settle({ ...NOTHING, nanoUsd: spent });
  }
}

async function sendAndRecord(context: RunContext, request: ToolRequest): Promise<EndedCall> {
  const { recorder, toolBox } = context;
  recorder.record(toolCalled(request, now()));
  const end = (answer: ToolAnswer): ToolAnswer => {
    recorder.record(toolEnded(request, answer, now(), paidCalls(request, answer)));
    return answer;
  };
  try {
    return { answer: end(await sendCall(context, request)) };
  } catch (error) {
    const { kind } = toolBox.cardOf(request.tool) ?? {};
    const answer = end(failedAnswer(error, request, kind === 'mcp' || kind === 'caller'));
    return isOwnCancellation(error) ? { answer, cancelled: error } : { answer };
  }
}

function answerIn({ answer, cancelled }: EndedCall): ToolAnswer {
  if (cancelled !== undefined) throw cancelled;
  return answer;
}

import { ActivityFailure, ApplicationFailure, ChildWorkflowFailure } from '@temporalio/common';
import type { StepTrace } from '../protocol/solve';
import type { AskedCall, ToolAnswer, ToolRequest } from '../protocol/tool-use';
import { type EventOf, readFailure, type RunEvent, type ToolAddress } from './events';

// Events of a step whose worker calls tools, as the workflow records them and a history tells them, and what they change.

export function toolCalled({ round, step, worker, turn, ordinal }: ToolRequest, at: string): RunEvent {
  return { kind: 'tool-called', round, step, worker, turn, ordinal, at };
}

/** Longest message of a failure that a model is shown, in characters. */
const MAX_REASON = 2000;

/**
 * Returns what a model is told of a call that ended without an answer. Only what the user's own code threw says that it
 * failed; a call that timed out or was lost may have taken effect.
 * @param isOurs whether `conductor.callTool` made it
 */
export function failedAnswer(error: unknown, { tool }: ToolRequest, isOurs: boolean): ToolAnswer {
  const cause =
    error instanceof ActivityFailure || error instanceof ChildWorkflowFailure ? error.cause : error;
  const reason = readFailure(error, tool.name).problem.message.slice(0, MAX_REASON);
  if (!isOurs && cause instanceof ApplicationFailure)
    return { outcome: 'error', output: `The tool failed: ${reason}` };
  return { outcome: 'unknown', output: `The outcome of this call is unknown: ${reason}.` };
}

export function toolEnded(
  { round, step, worker, turn, ordinal }: ToolRequest,
  { outcome, output }: ToolAnswer,
  at: string,
): RunEvent {
  return { kind: 'tool-ended', ...{ round, step, worker, turn, ordinal, outcome, output, at } };
}

type Turns = NonNullable<StepTrace['turns']>;
type ToolCallTrace = Turns[number]['calls'][number];

export function addTurn(
  turns: Turns = [],
  { worker, turn, asked }: Omit<EventOf<'turn-taken'>, 'calls' | 'dropped'>,
): Turns {
  return [...turns, { worker, turn, calls: asked.map(asToolCall) }];
}

export function startCall(turns: Turns = [], { at: startedAt, ...place }: EventOf<'tool-called'>): Turns {
  return changeCall(turns, place, { startedAt });
}

export function endCall(
  turns: Turns = [],
  { at: endedAt, outcome, output, ...place }: EventOf<'tool-ended'>,
): Turns {
  return changeCall(turns, place, { outcome, output, endedAt });
}

/** A call that cannot be made has its answer at once. */
function asToolCall({ name, input, problem }: AskedCall): ToolCallTrace {
  const outcome = problem === undefined ? null : 'error';
  return { name, arguments: input, output: problem ?? null, outcome, startedAt: null, endedAt: null };
}

function changeCall(
  turns: Turns,
  { worker, turn, ordinal }: ToolAddress,
  change: Partial<ToolCallTrace>,
): Turns {
  const place = turns.findLastIndex((each) => each.worker === worker && each.turn === turn);
  return turns.map((each, index) => {
    if (index !== place) return each;
    return { ...each, calls: each.calls.map((call, at) => (at === ordinal ? { ...call, ...change } : call)) };
  });
}

import type { Problem } from '../protocol/solve';
import type { ToolAnswer, ToolRequest } from '../protocol/tool-use';
import type { RunEvent } from './events';

// Events of a step whose worker calls tools, as the workflow records them and a history tells them.

export function toolCalled({ round, step, worker, turn, ordinal }: ToolRequest, at: string): RunEvent {
  return { kind: 'tool-called', round, step, worker, turn, ordinal, at };
}

/** What a model is told of a call that ended without an answer. */
export function unknownAnswer({ message }: Problem): ToolAnswer {
  return { outcome: 'unknown', output: `The outcome of this call is unknown: ${message}.` };
}

export function toolEnded(
  { round, step, worker, turn, ordinal }: ToolRequest,
  { outcome, output }: ToolAnswer,
  at: string,
): RunEvent {
  return { kind: 'tool-ended', ...{ round, step, worker, turn, ordinal, outcome, output, at } };
}

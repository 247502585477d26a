import {
  ActivityFailure,
  ApplicationFailure,
  ChildWorkflowFailure,
  TimeoutFailure,
} from '@temporalio/common';
import { FAILURES } from '../protocol/failures';
import { nanoUsdOfCall } from '../protocol/planning';
import type { Call, Problem, SolveTrace, Steered, StepTrace } from '../protocol/solve';
import { type AskedCall, TOOL_CALL_ID, type ToolAnswer, type ToolRequest } from '../protocol/tool-use';
import { type EventOf, readFailure, type RunEvent, type ToolAddress } from './events';
import { isOwn } from './rounds';

// Events of a step whose worker calls tools, as the workflow records them and a history tells them, and what they change.

/** Returns the id under which a person decides on a call: `2.coder.1.1` is the first call of a worker's first turn. */
export function toolCallId({ step, worker, turn, ordinal }: Omit<ToolAddress, 'round'>): string {
  return [step + 1, worker, turn + 1, ordinal + 1].join('.');
}

/** Returns which calls of a turn a person is asked about. */
export function ordinalsOf(asked: readonly AskedCall[]): number[] {
  return asked.flatMap(({ asks }, ordinal) => (asks ? [ordinal] : []));
}

export function toolCalled(request: ToolRequest, at: string): RunEvent {
  const { round, step, worker, turn, ordinal, input, callerId, tool } = request;
  const called = { round, step, worker, turn, ordinal, input, at };
  // The caller's function keeps the name that the caller gave it, whatever its model was offered.
  return { kind: 'tool-called', ...called, ...(callerId !== undefined && { callerId, name: tool.tool }) };
}

/** What a model is told of a call that a person rejected. */
export function deniedAnswer(reason: string): ToolAnswer {
  return { outcome: 'denied', output: `A person rejected this call, and it was not made: ${reason}` };
}

/** What a model is told of a call that a person approved with arguments that its tool does not take. */
export function misfitAnswer(misfit: string): ToolAnswer {
  return { outcome: 'error', output: `The tool was not called: ${misfit}.` };
}

/** What a model is told of a call on which nobody decided in time. */
export function expiredAnswer(approvalMs: number): ToolAnswer {
  const output = `Nobody decided on this call within ${approvalMs / 1000} s, and it was not made.`;
  return { outcome: 'expired', output };
}

const UNANSWERED =
  'The one who asked gave no result of this call in time. Whether it was carried out is unknown.';

/** Longest message of a failure that a model is shown, in characters. */
const MAX_REASON = 2000;

/**
 * Returns what a model is told of a call that ended without an answer. Only what the user's own code threw says that it
 * failed; a call that timed out or was lost may have taken effect.
 * @param isOurs whether `conductor.callTool` made it
 */
export function failedAnswer(error: unknown, { tool, callerId }: ToolRequest, isOurs: boolean): ToolAnswer {
  const cause =
    error instanceof ActivityFailure || error instanceof ChildWorkflowFailure ? error.cause : error;
  if (callerId !== undefined && cause instanceof TimeoutFailure)
    return { outcome: 'expired', output: UNANSWERED };
  const { problem, details } = readFailure(error, tool.name);
  const reason = problem.message.slice(0, MAX_REASON);
  if (details?.calls.length === 0)
    return { outcome: 'error', output: `The tool was not called: ${reason}.`, isUnsent: true };
  if (!isOurs && cause instanceof ApplicationFailure)
    return { outcome: 'error', output: `The tool failed: ${reason}` };
  return { outcome: 'unknown', output: `The outcome of this call is unknown: ${reason}.` };
}

/** @param calls what it cost, if it was made and has a price */
export function toolEnded(
  { round, step, worker, turn, ordinal }: ToolAddress,
  { outcome, output }: ToolAnswer,
  at: string,
  calls: readonly Call[] = [],
): RunEvent {
  const place = { round, step, worker, turn, ordinal };
  return { kind: 'tool-ended', ...place, outcome, output, at, ...(calls.length > 0 && { calls }) };
}

/**
 * Returns a call of a tool as the ledger and the sums have it; none if the tool has no price. It costs that unless surely
 * nothing was sent. While it runs, its outcome is unknown.
 */
export function paidCalls(request: ToolRequest, answer: Omit<ToolAnswer, 'output'>): Call[] {
  const { round, step, worker, tool } = request;
  const price = nanoUsdOfCall(tool);
  if (price === null) return [];
  const callId = `${TOOL_CALL_ID}${round}.${toolCallId(request)}`;
  const model = tool.tool === tool.card ? tool.card : `${tool.card}.${tool.tool}`;
  const place = { callId, purpose: 'tool', round, step, attempt: 1, worker, model } as const;
  return [{ ...place, error: problemOf(answer), usage: null, nanoUsd: answer.isUnsent ? 0 : price }];
}

function problemOf({ outcome, isUnsent }: Omit<ToolAnswer, 'output'>): Problem | null {
  if (outcome === 'ok') return null;
  if (isUnsent) return { type: FAILURES.toolUnsent, message: 'the tool was not called' };
  return outcome === 'error'
    ? { type: FAILURES.toolFailed, message: 'the tool returned an error' }
    : { type: FAILURES.toolUnknown, message: 'it is not known what came of the call' };
}

type Turns = NonNullable<StepTrace['turns']>;
type ToolCallTrace = Turns[number]['calls'][number];

export function addTurn(
  turns: Turns = [],
  { worker, turn, asked }: Omit<EventOf<'turn-taken'>, 'calls' | 'dropped'>,
): Turns {
  return [...turns, { worker, turn, calls: asked.map(asToolCall) }];
}

export function askAbout(turns: Turns = [], { ordinals, ...place }: EventOf<'calls-asked'>): Turns {
  return ordinals.reduce((all, ordinal) => {
    const id = toolCallId({ ...place, ordinal });
    return changeCall(all, { ...place, ordinal }, { approval: { id, decision: null, at: null } });
  }, turns);
}

export function startCall(
  turns: Turns = [],
  { at: startedAt, input, callerId, name, ...place }: EventOf<'tool-called'>,
): Turns {
  const ofCaller = callerId !== undefined && name !== undefined && { callerId, name };
  return changeCall(turns, place, { arguments: input, startedAt, ...ofCaller });
}

/** Notes what a person decided on a call of the run. One that is rejected has its answer by that. */
export function decideOnCall(trace: SolveTrace, message: Steered): SolveTrace {
  const rounds = trace.rounds.map((round) => {
    if (!isOwn(round)) return round;
    const steps = round.steps.map((step) =>
      step.turns === undefined ? step : { ...step, turns: decideIn(step.turns, message) },
    );
    return { ...round, steps };
  });
  return { ...trace, rounds };
}

function decideIn(turns: Turns, { call: id = '', kind, text = '', at, by }: Steered): Turns {
  const decision = kind === 'hint' || kind === 'limits' ? null : kind;
  const answered = kind === 'rejected' && { ...deniedAnswer(text), endedAt: at };
  return turns.map((turn) => ({
    ...turn,
    calls: turn.calls.map((call) => {
      if (call.approval?.id !== id) return call;
      return { ...call, approval: { id, decision, at, ...(by !== undefined && { by }) }, ...answered };
    }),
  }));
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

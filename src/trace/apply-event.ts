import type { SolveTrace } from '../protocol/solve';
import type { Text } from '../protocol/text';
import { applyRoundEvent } from './apply-round-event';
import { applyStepEvent } from './apply-step-event';
import { endWait, isOwn, withCalls } from './change-trace';
import type { EventOf, RunEvent } from './run-event';
import { withChild } from './with-child';

/** The trace of a run that has just begun. */
export function emptyTrace(run: { id: string; runId: string; question: Text }): SolveTrace {
  return {
    ...run,
    status: 'running',
    answer: null,
    degraded: false,
    stoppedBy: null,
    error: null,
    checkpoint: null,
    rounds: [],
    calls: [],
    usage: { inputTokens: 0, outputTokens: 0, calls: 0 },
    costUsd: 0,
    costIsLowerBound: false,
  };
}

/** The trace after one more event. Pure: the same events always make the same trace. */
export function applyEvent(trace: SolveTrace, event: RunEvent): SolveTrace {
  if ('step' in event) return applyStepEvent(trace, event);
  if ('round' in event) return applyRoundEvent(trace, event);
  switch (event.kind) {
    case 'conductor-called':
      return { ...withCalls(trace, event.calls), checkpoint: event.checkpoint ?? trace.checkpoint };
    case 'estimated':
      return { ...trace, estimate: event.estimate };
    case 'approval-asked':
      return { ...trace, waitsFor: 'approval' };
    case 'child-ended':
      return applyEndOfChild(trace, event);
    case 'ended':
      return applyEnd(trace, event);
  }
}

function applyEndOfChild(trace: SolveTrace, { childId, trace: child }: EventOf<'child-ended'>): SolveTrace {
  if (child !== null && child.rounds.length > 0) {
    // What a limit ended says so itself.
    const isLost = child.status === 'failed' && child.stoppedBy === null;
    return withChild({ ...trace, degraded: trace.degraded || isLost }, childId, child);
  }
  const rounds = trace.rounds.map((round) =>
    round.childId === childId ? { ...round, decision: 'failed' as const } : round,
  );
  return { ...trace, rounds, degraded: true };
}

function applyEnd(trace: SolveTrace, event: EventOf<'ended'>): SolveTrace {
  const { status, answer, error, stoppedBy, spentAtMost } = event;
  const rounds = trace.rounds.map((round) =>
    status === 'failed' && isOwn(round) && round.decision === null
      ? { ...round, decision: 'failed' as const }
      : round,
  );
  const ended = { ...endWait(trace), rounds, status, answer, error, stoppedBy };
  return { ...ended, ...(spentAtMost && { spentAtMost }) };
}

import type { Plan } from '../plan/plan';
import { planWaves } from '../plan/waves';
import type { Call, Problem } from '../protocol/call';
import { FAILURES } from '../protocol/failures';
import type { RoundTrace, SolveTrace, StepTrace } from '../protocol/solve';
import type { Text } from '../protocol/text';
import type { RunEvent, StepAddress } from './run-event';
import { totalOf } from './total';
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
  switch (event.kind) {
    case 'plan-asked':
      return beginRound(trace, event);
    case 'conductor-called':
      return withCalls(trace, event.calls);
    case 'planned':
      return applyPlan(trace, event);
    case 'estimated':
      return { ...trace, estimate: event.estimate };
    case 'approval-asked':
      return { ...trace, waitsFor: 'approval' };
    case 'step-kept':
      return changeStep(trace, event, (step) => ({ ...step, output: event.output }));
    case 'step-started':
      return applyStart(trace, event);
    case 'step-answered':
      return applyAnswer(trace, event);
    case 'step-failed':
      return applyFailure(trace, event);
    case 'answered':
      return applyEndOfRound(trace, event);
    case 'review-started':
      return beginReview(trace, event);
    case 'child-ended':
      return applyEndOfChild(trace, event);
    case 'decided':
      return changeRound(trace, event.round, (round) => ({ ...round, decision: event.decision }));
    case 'ended':
      return applyEnd(trace, event);
  }
}

type Of<Kind extends RunEvent['kind']> = Extract<RunEvent, { kind: Kind }>;

function beginRound(trace: SolveTrace, { round, depth }: Of<'plan-asked'>): SolveTrace {
  const running = endWait(trace);
  const known = trace.rounds.some((each) => isOwn(each) && each.round === round);
  return known ? running : { ...running, rounds: [...running.rounds, emptyRound(round, depth, null)] };
}

/** Until the child has something to tell, its round stands there empty. */
function beginReview(trace: SolveTrace, { round, depth, childId }: Of<'review-started'>): SolveTrace {
  return { ...trace, rounds: [...trace.rounds, emptyRound(round, depth, childId)] };
}

function applyEndOfChild(trace: SolveTrace, { childId, trace: child }: Of<'child-ended'>): SolveTrace {
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

function applyEnd(trace: SolveTrace, event: Of<'ended'>): SolveTrace {
  const { status, answer, error, stoppedBy, spentAtMost } = event;
  const rounds = trace.rounds.map((round) =>
    status === 'failed' && isOwn(round) && round.decision === null
      ? { ...round, decision: 'failed' as const }
      : round,
  );
  const ended = { ...endWait(trace), rounds, status, answer, error, stoppedBy };
  return { ...ended, ...(spentAtMost && { spentAtMost }) };
}

function endWait({ waitsFor: _, ...trace }: SolveTrace): SolveTrace {
  return trace;
}

/** A run has one plan of its own; what its children planned is theirs. */
function isOwn({ childId }: RoundTrace): boolean {
  return childId === null;
}

function applyPlan(trace: SolveTrace, { round, plan, degraded }: Of<'planned'>): SolveTrace {
  const steps = plan.steps.map((step) => ({ ...step, sees: [...step.sees] }));
  const planned = changeRound(trace, round, (each) => ({ ...each, plan: { steps }, steps: stepsOf(plan) }));
  return { ...endWait(planned), degraded: trace.degraded || degraded };
}

function applyStart(trace: SolveTrace, event: Of<'step-started'>): SolveTrace {
  const { worker, model, fallbackFor, childId = null, at } = event;
  const started = changeStep(trace, event, (step) => {
    const fresh = { ...step, worker, model, fallbackFor, childId, error: null, output: null, endedAt: null };
    return { ...fresh, startedAt: step.startedAt ?? at };
  });
  const running = endWait(started);
  return fallbackFor === null ? running : { ...running, degraded: true };
}

function applyAnswer(trace: SolveTrace, event: Of<'step-answered'>): SolveTrace {
  const { output, startedAt, endedAt, dropped } = event;
  const done = { output, startedAt, endedAt, dropped: [...dropped], error: null };
  return withCalls(
    changeStep(trace, event, (step) => ({ ...step, ...done })),
    event.calls,
  );
}

function applyFailure(trace: SolveTrace, event: Of<'step-failed'>): SolveTrace {
  const { output, problem, endedAt, dropped } = event;
  const done = { output, endedAt, dropped: [...dropped], error: problem };
  return withCalls(
    changeStep(trace, event, (step) => ({ ...step, ...done, ...passedOver(step, problem) })),
    event.calls,
  );
}

/** No call tells of a worker that was not asked: the step does, also when another one has answered. */
function passedOver({ worker, passedOver: before = [] }: StepTrace, error: Problem): Partial<StepTrace> {
  return error.type === FAILURES.circuitOpen ? { passedOver: [...before, { worker, error }] } : {};
}

function applyEndOfRound(trace: SolveTrace, { round, answer }: Of<'answered'>): SolveTrace {
  const answered = changeRound(trace, round, (each) => ({ ...each, answer, decision: 'accepted' as const }));
  const failed = trace.rounds.some((each) => isOwn(each) && each.steps.some((step) => step.error !== null));
  return { ...answered, degraded: trace.degraded || failed };
}

function emptyRound(round: number, depth: number, childId: string | null): RoundTrace {
  return { round, depth, childId, plan: null, steps: [], answer: null, decision: null };
}

function stepsOf(plan: Plan): StepTrace[] {
  const waves = planWaves(plan);
  return plan.steps.map((step, index) => ({
    index,
    wave: waves[index] ?? 0,
    worker: step.worker,
    model: null,
    output: null,
    error: null,
    childId: null,
    fallbackFor: null,
    dropped: [],
    startedAt: null,
    endedAt: null,
  }));
}

function changeRound(
  trace: SolveTrace,
  round: number,
  change: (round: RoundTrace) => RoundTrace,
): SolveTrace {
  const rounds = trace.rounds.map((each) => (isOwn(each) && each.round === round ? change(each) : each));
  return { ...trace, rounds };
}

function changeStep(trace: SolveTrace, at: StepAddress, change: (step: StepTrace) => StepTrace): SolveTrace {
  return changeRound(trace, at.round, (round) => ({
    ...round,
    steps: round.steps.map((step) => (step.index === at.step ? change(step) : step)),
  }));
}

/** Adds calls and the sums over all of them. */
function withCalls(trace: SolveTrace, added: readonly Call[]): SolveTrace {
  const calls = [...trace.calls, ...added.map((call) => ({ ...call }))];
  return { ...trace, calls, ...totalOf(calls) };
}

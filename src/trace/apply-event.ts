import type { Plan } from '../plan/plan';
import { planWaves } from '../plan/waves';
import type { Call, Problem } from '../protocol/call';
import { FAILURES } from '../protocol/failures';
import type { RoundTrace, SolveTrace, StepTrace } from '../protocol/solve';
import type { Text } from '../protocol/text';
import type { RunEvent, StepAddress } from './run-event';
import { totalOf } from './total';

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
      return beginRound(trace, event.round);
    case 'conductor-called':
      return withCalls(trace, event.calls);
    case 'planned':
      return applyPlan(trace, event);
    case 'step-started':
      return applyStart(trace, event);
    case 'step-answered':
      return applyAnswer(trace, event);
    case 'step-failed':
      return applyFailure(trace, event);
    case 'answered':
      return applyEndOfRound(trace, event);
    case 'ended': {
      const { status, answer, error, stoppedBy } = event;
      return { ...trace, status, answer, error, stoppedBy };
    }
  }
}

type Of<Kind extends RunEvent['kind']> = Extract<RunEvent, { kind: Kind }>;

function beginRound(trace: SolveTrace, round: number): SolveTrace {
  const known = trace.rounds.some((each) => each.round === round);
  return known ? trace : { ...trace, rounds: [...trace.rounds, emptyRound(round)] };
}

function applyPlan(trace: SolveTrace, { round, plan, degraded }: Of<'planned'>): SolveTrace {
  const steps = plan.steps.map((step) => ({ ...step, sees: [...step.sees] }));
  const planned = changeRound(trace, round, (each) => ({ ...each, plan: { steps }, steps: stepsOf(plan) }));
  return { ...planned, degraded: trace.degraded || degraded };
}

function applyStart(trace: SolveTrace, event: Of<'step-started'>): SolveTrace {
  const { worker, model, fallbackFor, at } = event;
  const started = changeStep(trace, event, (step) => {
    const fresh = { ...step, worker, model, fallbackFor, error: null, output: null, endedAt: null };
    return { ...fresh, startedAt: step.startedAt ?? at };
  });
  return fallbackFor === null ? started : { ...started, degraded: true };
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
  const failed = trace.rounds.some((each) => each.steps.some((step) => step.error !== null));
  return { ...answered, degraded: trace.degraded || failed };
}

function emptyRound(round: number): RoundTrace {
  return { round, depth: 0, childId: null, plan: null, steps: [], answer: null, decision: null };
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
  return { ...trace, rounds: trace.rounds.map((each) => (each.round === round ? change(each) : each)) };
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

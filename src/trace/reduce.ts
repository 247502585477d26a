import type { Plan } from '../plan/plan';
import { planWaves } from '../plan/waves';
import type { Call, Problem } from '../protocol/call';
import { FAILURES } from '../protocol/failures';
import type { RoundTrace, SolveTrace, StepTrace } from '../protocol/solve';
import type { Text } from '../protocol/text';
import type { EventOf, RunEvent, StepAddress } from './run-event';
import { isWithin } from './run-tree';

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

/** What can happen to a round. */
export type RoundEvent = EventOf<'plan-asked' | 'planned' | 'answered' | 'review-started' | 'decided'>;

/** The trace after something happened to one of its rounds. */
function applyRoundEvent(trace: SolveTrace, event: RoundEvent): SolveTrace {
  switch (event.kind) {
    case 'plan-asked':
      return beginRound(trace, event);
    case 'planned':
      return applyPlan(trace, event);
    case 'answered':
      return applyEndOfRound(trace, event);
    case 'review-started':
      return beginReview(trace, event);
    case 'decided':
      return changeRound(trace, event.round, (round) => ({ ...round, decision: event.decision }));
  }
}

function beginRound(trace: SolveTrace, { round, depth }: EventOf<'plan-asked'>): SolveTrace {
  const running = endWait(trace);
  const known = trace.rounds.some((each) => isOwn(each) && each.round === round);
  return known ? running : { ...running, rounds: [...running.rounds, emptyRound(round, depth, null)] };
}

/** Until the child has something to tell, its round stands there empty. */
function beginReview(trace: SolveTrace, { round, depth, childId }: EventOf<'review-started'>): SolveTrace {
  return { ...trace, rounds: [...trace.rounds, emptyRound(round, depth, childId)] };
}

function applyPlan(trace: SolveTrace, { round, plan, degraded }: EventOf<'planned'>): SolveTrace {
  const steps = plan.steps.map((step) => ({ ...step, sees: [...step.sees] }));
  const planned = changeRound(trace, round, (each) => ({ ...each, plan: { steps }, steps: stepsOf(plan) }));
  return { ...endWait(planned), degraded: trace.degraded || degraded };
}

function applyEndOfRound(trace: SolveTrace, { round, answer }: EventOf<'answered'>): SolveTrace {
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

/** What can happen to a step. */
export type StepEvent = EventOf<'step-kept' | 'step-started' | 'step-answered' | 'step-failed'>;

/** The trace after something happened to one of its steps. */
function applyStepEvent(trace: SolveTrace, event: StepEvent): SolveTrace {
  switch (event.kind) {
    case 'step-kept':
      return changeStep(trace, event, (step) => ({ ...step, output: event.output }));
    case 'step-started':
      return applyStart(trace, event);
    case 'step-answered':
      return applyAnswer(trace, event);
    case 'step-failed':
      return applyFailure(trace, event);
  }
}

function applyStart(trace: SolveTrace, event: EventOf<'step-started'>): SolveTrace {
  const { worker, model, fallbackFor, childId = null, at } = event;
  const started = changeStep(trace, event, (step) => {
    const fresh = { ...step, worker, model, fallbackFor, childId, error: null, output: null, endedAt: null };
    return { ...fresh, startedAt: step.startedAt ?? at };
  });
  const running = endWait(started);
  return fallbackFor === null ? running : { ...running, degraded: true };
}

function applyAnswer(trace: SolveTrace, event: EventOf<'step-answered'>): SolveTrace {
  const { output, startedAt, endedAt, dropped } = event;
  const done = { output, startedAt, endedAt, dropped: [...dropped], error: null };
  return withCalls(
    changeStep(trace, event, (step) => ({ ...step, ...done })),
    event.calls,
  );
}

function applyFailure(trace: SolveTrace, event: EventOf<'step-failed'>): SolveTrace {
  const { output, problem, endedAt, dropped } = event;
  const done = { output, endedAt, dropped: [...dropped], error: problem };
  return withCalls(
    changeStep(trace, event, (step) => ({ ...step, ...done, ...skipped(step, problem) })),
    event.calls,
  );
}

/** No call tells of a worker that was not asked: the step does, also when another one has answered. */
function skipped({ worker, skipped: before = [] }: StepTrace, error: Problem): Partial<StepTrace> {
  return error.type === FAILURES.circuitOpen ? { skipped: [...before, { worker, error }] } : {};
}

/** Changes the run's own round of this number. A run has one plan of its own; what its children planned is theirs. */
function changeRound(
  trace: SolveTrace,
  round: number,
  change: (round: RoundTrace) => RoundTrace,
): SolveTrace {
  const rounds = trace.rounds.map((each) => (isOwn(each) && each.round === round ? change(each) : each));
  return { ...trace, rounds };
}

/** Changes one step of the run's own plan. */
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

/** Ends the wait for a person, if there was one. */
function endWait(trace: SolveTrace): SolveTrace {
  const { waitsFor, ...running } = trace;
  return waitsFor === undefined ? trace : running;
}

/** Whether a round is the run's own, and not a child's. */
function isOwn({ childId }: RoundTrace): boolean {
  return childId === null;
}

/**
 * The trace of a run with what is known of one of its children, running or ended, put in place of what it held of that
 * child before. Pure, and safe in the sandbox: the workflow does it when a child has ended, a client whenever it looks.
 *
 * Rounds and calls of the child's own get its id; those of its own children have theirs already. The run's own rounds
 * come first, then its children in the order of the steps they were started for, and the review last. What a child
 * lost, what stopped it and whether it waits for a person is true of the whole run.
 *
 * @param childId workflow id of the child, which those of all its descendants begin with
 */
export function withChild(trace: SolveTrace, childId: string, child: SolveTrace): SolveTrace {
  const isForeign = (of: { childId?: string | null }): boolean => !isWithin(of.childId, childId);
  const order = childrenOfSteps(trace);
  const inOrder = <Of extends { childId?: string | null }>(all: readonly Of[]): Of[] =>
    [...all].sort((one, other) => rank(one.childId, order) - rank(other.childId, order));

  const known = child.rounds.map((round) => ({ ...round, childId: round.childId ?? childId }));
  // Nothing is planned yet: what the run itself says of the child stands.
  const rounds = known.length === 0 ? trace.rounds : [...trace.rounds.filter(isForeign), ...known];
  const made = child.calls.map((call) => ({ ...call, childId: call.childId ?? childId }));
  const calls = inOrder([...trace.calls.filter(isForeign), ...made]);
  return {
    ...trace,
    rounds: inOrder(rounds),
    calls,
    ...totalOf(calls),
    degraded: trace.degraded || child.degraded,
    stoppedBy: trace.stoppedBy ?? child.stoppedBy,
    ...(child.waitsFor && { waitsFor: child.waitsFor }),
  };
}

function childrenOfSteps({ rounds }: SolveTrace): string[] {
  const own = rounds.filter((round) => round.childId === null);
  return own.flatMap(({ steps }) => steps.flatMap((step) => step.childId ?? []));
}

/** 0 for what is the run's own; a child of no step is a review, and comes last. */
function rank(id: string | null | undefined, order: readonly string[]): number {
  if (id === null || id === undefined) return 0;
  const position = order.findIndex((childId) => isWithin(id, childId));
  return position === -1 ? order.length + 1 : position + 1;
}

/** What a number of calls came to. */
export type Total = Pick<SolveTrace, 'usage' | 'costUsd' | 'costIsLowerBound'>;

/** Adds calls up. What is unknown of a call counts as nothing, and makes the cost a lower bound. */
export function totalOf(calls: readonly Call[]): Total {
  const sum = (amountOf: (call: Call) => number): number =>
    calls.reduce((total, call) => total + amountOf(call), 0);
  return {
    usage: {
      inputTokens: sum((call) => call.usage?.inputTokens ?? 0),
      outputTokens: sum((call) => call.usage?.outputTokens ?? 0),
      calls: calls.length,
    },
    costUsd: sum((call) => call.nanoUsd ?? 0) / 1e9,
    costIsLowerBound: calls.some((call) => call.nanoUsd === null),
  };
}

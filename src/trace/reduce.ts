import { type Plan, planWaves } from '../plan/plan';
import type { Call, RoundTrace, SolveTrace, StepTrace } from '../protocol/solve';
import { totalOf } from './cost';
import type { EventOf, RunEvent, StepAddress } from './events';
import { failRounds, isOwn, withError } from './rounds';
import { answeringStep } from './run-tree';
import { addTurn, askAbout, decideOnCall, endCall, startCall } from './tool-events';
import { waitOfCalls } from './waiting-calls';
import { withChild } from './with-child';

export function emptyTrace(run: Pick<SolveTrace, 'id' | 'runId' | 'question' | 'startedAt'>): SolveTrace {
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
    ...totalOf([]),
  };
}

/** The trace after one more event. Pure: the same events always make the same trace. */
export function applyEvent(trace: SolveTrace, event: RunEvent): SolveTrace {
  // The compiler does not see that the two have the same kind.
  const change = CHANGES[event.kind] as (trace: SolveTrace, event: RunEvent) => SolveTrace;
  return change(trace, event);
}

const CHANGES: {
  readonly [Kind in RunEvent['kind']]: (trace: SolveTrace, event: EventOf<Kind>) => SolveTrace;
} = {
  'plan-asked': (trace, { round, depth, isGiven = false, at }) => {
    const isKnown = trace.rounds.some((each) => isOwn(each) && each.round === round);
    const rounds = isKnown ? trace.rounds : [...trace.rounds, emptyRound(round, depth, null)];
    return replaceRound({ ...endWait(trace), rounds }, round, (each) =>
      isGiven ? asGiven(each, true) : beginPlanning(asGiven(each, false), at),
    );
  },
  'conductor-called': (trace, { round, problem, calls, checkpoint, endedAt }) => {
    const told = replaceRound(trace, round, (each) => endPlanning(withError(each, problem), endedAt));
    return {
      ...withCalls(told, calls),
      checkpoint: checkpoint ?? trace.checkpoint,
      // A plan clears `degraded`: before its first step, only a missing plan can have degraded a run.
      degraded: problem !== null && trace.degraded,
    };
  },
  planned: (trace, { round, plan, degraded }) => {
    const planned = changeRound(trace, round, () => ({ plan, steps: plannedSteps(plan) }));
    return { ...endWait(planned), degraded: trace.degraded || degraded };
  },
  estimated: (trace, { estimate }) => ({ ...trace, estimate }),
  'approval-asked': (trace, { round, at }) => ({
    ...changeRound(trace, round, ({ approvals = [] }) => ({
      approvals: [...approvals, { startedAt: at, endedAt: null }],
    })),
    waitsFor: 'approval',
  }),
  'approval-ended': (trace, { round, at }) =>
    endWait(changeRound(trace, round, (each) => endedApprovals(each, at))),
  'step-kept': (trace, event) => changeStep(trace, event, () => ({ output: event.output })),
  'step-started': (trace, event) => {
    const { worker, model, fallbackFor, childId = null, at } = event;
    const fresh = { worker, model, fallbackFor, childId, error: null, output: null, endedAt: null };
    const started = changeStep(trace, event, ({ startedAt, ...before }) => ({
      ...fresh,
      ...(before.thoughts !== undefined && { thoughts: undefined }),
      ...(before.worker !== worker && passedOver(before)),
      startedAt: startedAt ?? at,
    }));
    const running = settleWait(started);
    return fallbackFor === null ? running : { ...running, degraded: true };
  },
  'step-answered': (trace, { output, thoughts, cut, startedAt, endedAt, dropped, calls, ...at }) => {
    const told = { output, ...(thoughts !== undefined && { thoughts }), ...(cut && { cut }) };
    const answered = { ...told, endedAt, dropped, error: null };
    // The last turn with tools has not begun the step.
    return changeStep(withCalls(trace, calls), at, ({ turns, startedAt: since }) => ({
      ...answered,
      startedAt: turns === undefined ? startedAt : since,
    }));
  },
  'turn-taken': (trace, { calls, dropped, ...taken }) =>
    changeStep(withCalls(trace, calls), taken, ({ turns }) => ({ dropped, turns: addTurn(turns, taken) })),
  'calls-asked': (trace, asked) =>
    settleWait(changeStep(trace, asked, ({ turns }) => ({ turns: askAbout(turns, asked) }))),
  'tool-called': (trace, call) =>
    settleWait(changeStep(trace, call, ({ turns }) => ({ turns: startCall(turns, call) }))),
  'tool-ended': (trace, { calls = [], ...call }) =>
    settleWait(changeStep(withCalls(trace, calls), call, ({ turns }) => ({ turns: endCall(turns, call) }))),
  'step-failed': (trace, { output, thoughts, problem: error, endedAt, dropped, calls, ...at }) => {
    const told = { output, ...(thoughts !== undefined && { thoughts }) };
    return changeStep(withCalls(trace, calls), at, () => ({ ...told, endedAt, dropped, error }));
  },
  answered: (trace, { round, answer }) => {
    const answered = changeRound(trace, round, () => ({ answer }));
    const failed = trace.rounds.some((each) => isOwn(each) && each.steps.some((step) => step.error !== null));
    return { ...answered, degraded: trace.degraded || failed };
  },
  // The round stays empty until the child has something to show.
  'review-started': (trace, { round, depth, childId }) => ({
    ...trace,
    rounds: [...trace.rounds, emptyRound(round, depth, childId)],
  }),
  'child-ended': (trace, { childId, trace: child, problem }) => {
    if (child !== null && child.rounds.length > 0) {
      // A child that a limit ended has `stoppedBy`, and does not degrade the run.
      const isLost = child.status === 'failed' && child.stoppedBy === null;
      return withChild({ ...trace, degraded: trace.degraded || isLost }, childId, child);
    }
    return { ...failRounds(trace, (round) => round.childId === childId, problem), degraded: true };
  },
  decided: (trace, { round, decision }) => changeRound(trace, round, () => ({ decision })),
  steered: (trace, { message }) => {
    const told = { ...trace, steered: [...(trace.steered ?? []), message] };
    return message.call === undefined ? told : settleWait(decideOnCall(told, message));
  },
  ended: (trace, { status, answer, error, stoppedBy, spentAtMost, at }) => {
    const isUndecided = (round: RoundTrace): boolean => isOwn(round) && round.decision === null;
    const settled = status === 'failed' ? failRounds(trace, isUndecided) : trace;
    const ended = { ...endWait(endSpans(settled, at)), status, answer, error, stoppedBy, endedAt: at };
    const answerCut = answer === null ? undefined : answeringStep(trace)?.cut;
    return { ...ended, ...(answerCut && { answerCut }), ...(spentAtMost && { spentAtMost }) };
  },
};

function emptyRound(round: number, depth: number, childId: string | null): RoundTrace {
  return { round, depth, childId, plan: null, steps: [], answer: null, decision: null };
}

function plannedSteps(plan: Plan): StepTrace[] {
  const waves = planWaves(plan);
  const blank = { model: null, output: null, error: null, childId: null, fallbackFor: null };
  return plan.steps.map(({ worker }, index) => ({
    index,
    wave: waves[index] ?? 0,
    worker,
    ...blank,
    dropped: [],
    startedAt: null,
    endedAt: null,
  }));
}

type Change<Of> = (old: Of) => Partial<Of>;

/** Replaces the run's own round, not one of a child's. */
function replaceRound(
  trace: SolveTrace,
  round: number,
  replace: (old: RoundTrace) => RoundTrace,
): SolveTrace {
  const rounds = trace.rounds.map((each) => (isOwn(each) && each.round === round ? replace(each) : each));
  return { ...trace, rounds };
}

function changeRound(trace: SolveTrace, round: number, change: Change<RoundTrace>): SolveTrace {
  return replaceRound(trace, round, (each) => ({ ...each, ...change(each) }));
}

function changeStep(trace: SolveTrace, at: StepAddress, change: Change<StepTrace>): SolveTrace {
  return changeRound(trace, at.round, ({ steps }) => ({
    steps: steps.map((step) => (step.index === at.step ? { ...step, ...change(step) } : step)),
  }));
}

function passedOver({ worker, error, skipped = [] }: Omit<StepTrace, 'startedAt'>): Partial<StepTrace> {
  return error === null ? {} : { skipped: [...skipped, { worker, error }] };
}

function withCalls(trace: SolveTrace, added: readonly Call[]): SolveTrace {
  const calls = [...trace.calls, ...added];
  return { ...trace, calls, ...totalOf(calls) };
}

/** A repair, or another plan after a rejection, prolongs the planning. */
function beginPlanning(round: RoundTrace, at: string | undefined): RoundTrace {
  if (at === undefined) return round;
  return { ...round, planning: { startedAt: round.planning?.startedAt ?? at, endedAt: null } };
}

function endPlanning({ planning, ...round }: RoundTrace, at: string): RoundTrace {
  return planning === undefined ? round : { ...round, planning: { ...planning, endedAt: at } };
}

function endedApprovals({ approvals }: RoundTrace, at: string): Pick<RoundTrace, 'approvals'> {
  if (approvals === undefined) return {};
  return { approvals: approvals.map((each) => ({ ...each, endedAt: each.endedAt ?? at })) };
}

/** Ends what lasted to the end of the run: a plan being written, a wait for a person. */
function endSpans(trace: SolveTrace, at: string): SolveTrace {
  const rounds = trace.rounds.map((round) => {
    if (!isOwn(round)) return round;
    const { planning } = round;
    const ended = planning?.endedAt === null ? endPlanning(round, at) : round;
    return { ...ended, ...endedApprovals(ended, at) };
  });
  return { ...trace, rounds };
}

/** Ends the wait of the run, unless a call of a tool waits. */
function settleWait(trace: SolveTrace): SolveTrace {
  const waitsFor = waitOfCalls(trace);
  return waitsFor === undefined ? endWait(trace) : { ...trace, waitsFor };
}

function endWait(trace: SolveTrace): SolveTrace {
  const { waitsFor, ...running } = trace;
  return waitsFor === undefined ? trace : running;
}

/** Marks a round as given, or not: if a given plan is rejected, the Conductor writes another. */
function asGiven({ ...round }: RoundTrace, isGiven: boolean): RoundTrace {
  delete round.isGiven;
  return isGiven ? { ...round, isGiven } : round;
}

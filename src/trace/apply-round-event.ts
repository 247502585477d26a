import type { Plan } from '../plan/plan';
import { planWaves } from '../plan/waves';
import type { RoundTrace, SolveTrace, StepTrace } from '../protocol/solve';
import { changeRound, endWait, isOwn } from './change-trace';
import type { EventOf } from './run-event';

/** What can happen to a round. */
export type RoundEvent = EventOf<'plan-asked' | 'planned' | 'answered' | 'review-started' | 'decided'>;

/** The trace after something happened to one of its rounds. */
export function applyRoundEvent(trace: SolveTrace, event: RoundEvent): SolveTrace {
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

import type { SolveTrace } from '../protocol/solve';
import { ownRound } from '../trace/run-tree';
import type { LoggedSolve } from './contract';
import { isLost, spentOn } from './spent';

/** What the solves of a method on a question tell of it, beside its answer and how long they took. */
export function factsOf(traces: readonly SolveTrace[]): Omit<LoggedSolve, 'answer' | 'runs' | 'latencyMs'> {
  const calls = traces.flatMap((trace) => trace.calls);
  return {
    spent: spentOn(calls),
    lost: calls.filter(isLost).length,
    planning: spentOn(calls.filter(({ purpose }) => purpose !== 'step')),
    workers: countWorkers(traces),
    plan: (traces[0] && ownRound(traces[0], 0)?.plan) ?? null,
    rounds: traces.flatMap(({ rounds }) => rounds.filter(({ steps }) => steps.length > 0)).length,
    degraded: traces.some(({ degraded }) => degraded),
    stoppedBy: traces.find(({ stoppedBy }) => stoppedBy !== null)?.stoppedBy ?? null,
  };
}

function countWorkers(traces: readonly SolveTrace[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { rounds } of traces) {
    for (const step of rounds.flatMap((round) => round.steps)) {
      if (step.startedAt === null || step.error !== null) continue;
      counts[step.worker] = (counts[step.worker] ?? 0) + 1;
    }
  }
  return counts;
}

import type { Call, SolveTrace } from '../protocol/solve';
import { ownRound } from '../trace/run-tree';
import type { LoggedSolve } from './contract';
import { isPlanning } from '../trace/cost';
import { toolCallsOf } from '../trace/tool-calls';
import type { Attempt, Spent } from './results';
import { sumOfAll } from '../statistics/statistics';
import { tally } from '../statistics/tally';

export const NOTHING_SPENT: Spent = { calls: 0, inputTokens: 0, outputTokens: 0, nanoUsd: 0 };

/** Sums up calls except lost ones, since a crash must not change how many attempts another method may make. */
export function spentOn(calls: readonly Call[]): Spent {
  const spent = calls
    .filter((call) => !isLost(call))
    .map(({ usage, nanoUsd }): Spent => {
      const { inputTokens = 0, outputTokens = 0 } = usage ?? {};
      return { calls: 1, inputTokens, outputTokens, nanoUsd };
    });
  return spent.reduce(addSpent, NOTHING_SPENT);
}

/** Whether a call may have been billed an unknown amount, since its answer never came. */
function isLost({ usage, nanoUsd }: Call): boolean {
  return usage === null && nanoUsd === null;
}

export function addSpent(one: Spent, other: Spent): Spent {
  return {
    calls: one.calls + other.calls,
    inputTokens: one.inputTokens + other.inputTokens,
    outputTokens: one.outputTokens + other.outputTokens,
    nanoUsd: sumOfAll([one.nanoUsd, other.nanoUsd]),
  };
}

/** Returns the calls of tools that the steps of a solve made, in order. */
export function toolCallsIn({ rounds }: Pick<SolveTrace, 'rounds'>): NonNullable<Attempt['toolCalls']> {
  return rounds.flatMap(({ steps }) =>
    steps.flatMap((step) =>
      toolCallsOf(step).map(({ worker, name, arguments: args, output, outcome }) => ({
        step: step.index,
        ...{ worker, name, arguments: args, output, outcome },
      })),
    ),
  );
}

/** Chooses the unit for equal cost: money, or tokens if nothing was paid or a price is unknown. */
export function unitOf({ nanoUsd }: Spent): (spent: Spent) => number {
  const tokens = ({ inputTokens, outputTokens }: Spent): number => inputTokens + outputTokens;
  return nanoUsd === null || nanoUsd === 0 ? tokens : (spent) => spent.nanoUsd ?? 0;
}

export function loggedFactsOf(
  traces: readonly SolveTrace[],
): Omit<LoggedSolve, 'answer' | 'runs' | 'latencyMs'> {
  const calls = traces.flatMap((trace) => trace.calls);
  const rounds = traces.flatMap((trace) => trace.rounds.filter(({ steps }) => steps.length > 0));
  const answered = rounds
    .flatMap(({ steps }) => steps)
    .filter(({ startedAt, error }) => startedAt !== null && error === null);
  const checkpoint = traces.find((trace) => trace.checkpoint !== null)?.checkpoint;
  return {
    spent: spentOn(calls),
    lost: calls.filter(isLost).length,
    planning: spentOn(calls.filter(isPlanning)),
    workers: tally(answered.map(({ worker }) => worker)),
    plan: (traces[0] && ownRound(traces[0], 0)?.plan) ?? null,
    ...(checkpoint && { checkpoint }),
    rounds: rounds.length,
    degraded: traces.some(({ degraded }) => degraded),
    stoppedBy: traces.find(({ stoppedBy }) => stoppedBy !== null)?.stoppedBy ?? null,
  };
}

import type { Call } from '../protocol/call';
import type { Spent } from './records';

export const NOTHING_SPENT: Spent = { calls: 0, inputTokens: 0, outputTokens: 0, nanoUsd: 0 };

/**
 * What calls came to; one of unknown price makes the sum unknown. Lost ones are left out: a crash or a time-out says nothing
 * about a method, and must not change how many attempts another one is given.
 */
export function spentOn(calls: readonly Call[]): Spent {
  return calls
    .filter((call) => !isLost(call))
    .map(spentOnCall)
    .reduce(addSpent, NOTHING_SPENT);
}

/** Whether a call may have been billed, and no one knows how much, since its answer never came. */
export function isLost({ usage, nanoUsd }: Call): boolean {
  return usage === null && nanoUsd === null;
}

function spentOnCall({ usage, nanoUsd }: Call): Spent {
  const { inputTokens = 0, outputTokens = 0 } = usage ?? {};
  return { calls: 1, inputTokens, outputTokens, nanoUsd };
}

export function addSpent(one: Spent, other: Spent): Spent {
  return {
    calls: one.calls + other.calls,
    inputTokens: one.inputTokens + other.inputTokens,
    outputTokens: one.outputTokens + other.outputTokens,
    nanoUsd: one.nanoUsd === null || other.nanoUsd === null ? null : one.nanoUsd + other.nanoUsd,
  };
}

/** What equal cost is measured in: money, or tokens where none is paid or a price is unknown. */
export function unitOf({ nanoUsd }: Spent): (spent: Spent) => number {
  const tokens = ({ inputTokens, outputTokens }: Spent): number => inputTokens + outputTokens;
  return nanoUsd === null || nanoUsd === 0 ? tokens : (spent) => spent.nanoUsd ?? 0;
}

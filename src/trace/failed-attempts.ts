import type { Call } from '../protocol/call';

/** Attempts in a row that came to nothing for the same reason. */
export interface FailedAttempts {
  /** `attempt 2`, `attempt 2-5`. */
  readonly which: string;
  readonly reason: string;
}

/** What went wrong on the way, a reason once however often it came up in a row. */
export function failedAttempts(calls: readonly Call[]): FailedAttempts[] {
  const reasons = calls.map(({ error }) => (error === null ? '' : `${error.type} ${error.message}`));
  return calls.flatMap(({ attempt }, index) => {
    const reason = reasons[index] ?? '';
    const isTold = reason === '' || reason === reasons[index - 1];
    return isTold ? [] : [{ which: `attempt ${attempt}${sameAfter(reasons, index)}`, reason }];
  });
}

/** How far the same reason goes on: `-5` where the attempts up to the fifth failed alike. */
function sameAfter(reasons: readonly string[], index: number): string {
  const next = reasons.findIndex((reason, other) => other > index && reason !== reasons[index]);
  const last = next === -1 ? reasons.length : next;
  return last - index > 1 ? `-${last}` : '';
}

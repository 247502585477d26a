import { auditLedger } from './audit-ledger';
import { auditLive } from './audit-live';
import { auditRates } from './audit-rates';
import { auditRepeats } from './audit-repeats';
import { auditRuns } from './audit-runs';
import { auditTraces } from './audit-traces';
import { type Evidence, type Finding, finding } from './evidence';

/** Everything that must hold, held against what a run of the chaos left behind. */
export function audit(evidence: Evidence): Finding[] {
  return [
    auditRuns,
    auditTraces,
    auditLedger,
    auditRepeats,
    auditRates,
    auditLive,
    auditMemory,
    auditScript,
  ].flatMap((each) => each(evidence));
}

/** Checks that the script was played to its end, and that nothing died but what was killed. */
function auditScript({ kills, plannedKills, broken }: Evidence): Finding[] {
  const unplayed = plannedKills - kills.length;
  return [
    ...broken.map((difference) => finding('a worker ends only when it is killed', difference)),
    ...(unplayed === 0 ? [] : [finding('every kill of the script comes due', `${unplayed} did not`)]),
  ];
}

/**
 * What may stay, in bytes, whatever the number of solves: for what is loaded late and, outside of the heap, for what the
 * allocator keeps for the next time. A leak of a tenth of a megabyte per solve shows in two hundred.
 */
const HEADROOM = { heapUsed: 20 * 1024 * 1024, rss: 128 * 1024 * 1024 } as const;

/** The memory of a worker that outlived all others is back at its level when it has nothing to do. */
function auditMemory({ memory: { before, after } }: Evidence): Finding[] {
  return (['heapUsed', 'rss'] as const)
    .filter((kind) => after[kind] > before[kind] + HEADROOM[kind])
    .map((kind) => {
      const difference = `${kind} was ${megabytes(before[kind])}, and is ${megabytes(after[kind])}`;
      return finding('memory returns to its level', difference);
    });
}

/** A number of bytes, for people. */
export function megabytes(bytes: number): string {
  return `${Math.round(bytes / 1024 / 1024)} MB`;
}

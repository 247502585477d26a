import { auditLedger } from './audit-ledger';
import { auditLive } from './audit-live';
import { auditRates } from './audit-rates';
import { auditRepeats } from './audit-repeats';
import { auditRuns } from './audit-runs';
import { auditTraces } from './audit-traces';
import { type Evidence, type Finding, finding } from './evidence';

/** Checks everything that must hold against the evidence of a chaos run. */
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

/** Checks that every planned kill took place, and that no other process died. */
function auditScript({ kills, plannedKills, broken }: Evidence): Finding[] {
  const unplayed = plannedKills - kills.length;
  return [
    ...broken.map((difference) => finding('a worker ends only when it is killed', difference)),
    ...(unplayed === 0 ? [] : [finding('every kill of the script comes due', `${unplayed} did not`)]),
  ];
}

/**
 * Allowed growth in bytes, whatever the number of solves: for what is loaded late and, outside the heap, for what the
 * allocator keeps for later use. A leak of 0.1 MB per solve shows after two hundred solves.
 */
const HEADROOM = { heapUsed: 20 * 1024 * 1024, rss: 128 * 1024 * 1024 } as const;

/** Checks that the memory of the worker that is never killed returns to its level when it is idle. */
function auditMemory({ memory: { before, after } }: Evidence): Finding[] {
  return (['heapUsed', 'rss'] as const)
    .filter((kind) => after[kind] > before[kind] + HEADROOM[kind])
    .map((kind) => {
      const difference = `${kind} was ${megabytes(before[kind])}, and is ${megabytes(after[kind])}`;
      return finding('memory returns to its level', difference);
    });
}

/** Formats a number of bytes for people. */
export function megabytes(bytes: number): string {
  return `${Math.round(bytes / 1024 / 1024)} MB`;
}

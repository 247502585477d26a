import { auditLedger } from './audit-ledger';
import { auditMemory } from './audit-memory';
import { auditRates } from './audit-rates';
import { auditRepeats } from './audit-repeats';
import { auditRuns } from './audit-runs';
import { auditTraces } from './audit-traces';
import type { Evidence, Finding } from './evidence';

/** Everything that must hold, held against what a run of the chaos left behind. */
export function audit(evidence: Evidence): Finding[] {
  return [auditRuns, auditTraces, auditLedger, auditRepeats, auditRates, auditMemory, auditScript].flatMap(
    (each) => each(evidence),
  );
}

/** Checks that the script was played to its end, and that nothing died but what was killed. */
function auditScript({ kills, plannedKills, broken }: Evidence): Finding[] {
  const unplayed = plannedKills - kills.length;
  return [
    ...broken.map((difference) => ({ law: 'a worker ends only when it is killed', difference, run: null })),
    ...(unplayed === 0
      ? []
      : [{ law: 'every kill of the script comes due', difference: `${unplayed} did not`, run: null }]),
  ];
}

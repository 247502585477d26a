import { utf8Bytes } from '../plan/plan';
import { isRecord } from '../plan/validate';
import { HINT } from './messages';
import { DECIDE_CALL_UPDATE } from './names';
import { findFault, optional, text } from './rules';

/** A person's decision on a call of a tool that waits for one. */
export interface CallDecision {
  /** `approval.id` of the call in the trace. */
  readonly call: string;
  readonly approve: boolean;
  /** Why it is rejected: the model is told. */
  readonly reason?: string;
  /** In place of those that the model wrote, if it is approved. */
  readonly arguments?: Readonly<Record<string, unknown>>;
}

/** Most bytes of the arguments that a person gives, as JSON. */
const MAX_ARGUMENT_BYTES = 64 * 1024;

/** Returns what is wrong with a decision on a call of a tool, or null. */
export function findDecisionProblem(decision: unknown): string | null {
  const fault = findFault<CallDecision>(DECIDE_CALL_UPDATE, decision, {
    call: text(1000),
    approve: { isMet: (value) => typeof value === 'boolean', expected: 'true or false' },
    reason: optional(HINT),
    arguments: optional({
      isMet: (value) => isRecord(value) && utf8Bytes(JSON.stringify(value)) <= MAX_ARGUMENT_BYTES,
      expected: `an object of at most ${MAX_ARGUMENT_BYTES} bytes as JSON`,
    }),
  });
  if (fault !== null) return fault;
  const { approve, reason, arguments: changed } = decision as CallDecision;
  if (approve) return null;
  if (reason === undefined) return 'a call is rejected with a reason, which its model is told';
  return changed === undefined ? null : 'a call that is rejected takes no arguments';
}

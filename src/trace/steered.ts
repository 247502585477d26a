import { utf8Bytes } from '../plan/plan';
import { isRecord } from '../plan/validate';
import type { CallDecision } from '../protocol/call-decision';
import { HINT, isDepth, type LimitsChange, type PlanRejection } from '../protocol/messages';
import {
  ADD_HINT_SIGNAL,
  APPROVE_PLAN_UPDATE,
  DECIDE_CALL_UPDATE,
  EDIT_PLAN_UPDATE,
  REJECT_PLAN_UPDATE,
  SET_LIMITS_UPDATE,
  SET_MAX_DEPTH_SIGNAL,
} from '../protocol/names';
import type { Steered } from '../protocol/solve';
import { describeMs, describeUsd } from './describe';

type Told = Omit<Steered, 'at' | 'by'>;

/** What each message says to a run; null: nothing. Only updates are checked before they are read. */
const READERS: Readonly<Record<string, (said: unknown) => Told | null>> = {
  [ADD_HINT_SIGNAL]: (hint) => (HINT.isMet(hint) ? { kind: 'hint', text: hint as string } : null),
  [SET_MAX_DEPTH_SIGNAL]: (depth) => (isDepth(depth) ? { kind: 'limits', limits: { depth } } : null),
  [SET_LIMITS_UPDATE]: (change) =>
    Object.keys(change as LimitsChange).length === 0
      ? null
      : { kind: 'limits', limits: change as LimitsChange },
  [APPROVE_PLAN_UPDATE]: () => ({ kind: 'approved' }),
  [EDIT_PLAN_UPDATE]: () => ({ kind: 'edited' }),
  [REJECT_PLAN_UPDATE]: (rejection) => ({ kind: 'rejected', text: (rejection as PlanRejection).reason }),
  [DECIDE_CALL_UPDATE]: (decision) => readDecision(decision as CallDecision),
};

function readDecision({ call, approve, reason, arguments: changed }: CallDecision): Told {
  if (!approve) return { kind: 'rejected', call, ...(reason !== undefined && { text: reason }) };
  return { kind: changed === undefined ? 'approved' : 'edited', call };
}

/**
 * Reads a message to a run for its trace; null for one that changes nothing. The workflow reads what it hears here, and
 * the history reader what was sent, so that both tell the same.
 * @param name of the signal or update @param args what was sent: the message and, perhaps, its sender
 */
export function readMessage(name: string, [said, sender]: readonly unknown[], at: string): Steered | null {
  const told = READERS[name]?.(said) ?? null;
  const by = nameIn(sender);
  return told && { ...told, at, ...(by !== undefined && { by }) };
}

/** Longest name of a sender that the trace takes. */
const MAX_NAME_BYTES = 256;

/** Returns the name of a message's sender, which is unchecked; undefined if it has none. */
function nameIn(sender: unknown): string | undefined {
  const name = isRecord(sender) ? sender.name : undefined;
  return typeof name === 'string' && name !== '' && utf8Bytes(name) <= MAX_NAME_BYTES ? name : undefined;
}

/**
 * `hint from ada: Use metric units.`, `limits set: depth 2, cost none`, `plan rejected by ada: too dear`,
 * `call 2.coder.1.1 approved by ada`.
 */
export function describeSteered({ kind, by, call, text, limits = {} }: Steered): string {
  if (kind === 'limits') {
    const set = Object.entries(limits).map(([name, limit]) => LIMITS[name as keyof LimitsChange](limit));
    return `limits set${whose('by', by)}: ${set.join(', ')}`;
  }
  const decided = call === undefined ? 'plan' : `call ${call}`;
  const what = kind === 'hint' ? `hint${whose('from', by)}` : `${decided} ${kind}${whose('by', by)}`;
  return text === undefined ? what : `${what}: ${text}`;
}

function whose(how: 'by' | 'from', name: string | undefined): string {
  return name === undefined ? '' : ` ${how} ${name}`;
}

const orNone = (limit: number | null): string => (limit === null ? 'none' : limit.toLocaleString('en-US'));

const LIMITS: Readonly<Record<keyof LimitsChange, (limit: number | null) => string>> = {
  steps: (steps) => `steps ${orNone(steps)}`,
  depth: (depth) => `depth ${orNone(depth)}`,
  calls: (calls) => `calls ${orNone(calls)}`,
  tokens: (tokens) => `tokens ${orNone(tokens)}`,
  costUsd: (usd) => `cost ${usd === null ? 'none' : describeUsd(usd)}`,
  wallClockMs: (ms) => `time ${ms === null ? 'none' : describeMs(ms)}`,
};

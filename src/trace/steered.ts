import { utf8Bytes } from '../plan/plan';
import { isRecord } from '../plan/validate';
import type { CallDecision } from '../protocol/call-decision';
import { type HeldLimits, HINT, isDepth, type LimitsChange, type PlanRejection } from '../protocol/messages';
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

/** What each message, and the run's answer, tell; null: nothing. Only updates are checked before they are read. */
const READERS: Readonly<Record<string, (said: unknown, answer: unknown) => Told | null>> = {
  [ADD_HINT_SIGNAL]: (hint) => (HINT.isMet(hint) ? { kind: 'hint', text: hint as string } : null),
  [SET_MAX_DEPTH_SIGNAL]: (depth) => (isDepth(depth) ? { kind: 'limits', limits: { depth } } : null),
  [SET_LIMITS_UPDATE]: (change, held) => readLimits(change as LimitsChange, held as HeldLimits),
  [APPROVE_PLAN_UPDATE]: () => ({ kind: 'approved' }),
  [EDIT_PLAN_UPDATE]: () => ({ kind: 'edited' }),
  [REJECT_PLAN_UPDATE]: (rejection) => ({ kind: 'rejected', text: (rejection as PlanRejection).reason }),
  [DECIDE_CALL_UPDATE]: (decision) => readDecision(decision as CallDecision),
};

/** Limits below what is spent or set aside hold at that: a trace with what was asked for alone would show too little. */
function readLimits(limits: LimitsChange, now: HeldLimits): Told | null {
  const asked = Object.entries(limits) as [keyof LimitsChange, number | null][];
  const held = asked.flatMap(([name, limit]) => (now[name] === limit ? [] : [[name, now[name]] as const]));
  if (asked.length === 0) return null;
  return { kind: 'limits', limits, ...(held.length > 0 && { held: Object.fromEntries(held) }) };
}

function readDecision({ call, approve, reason, arguments: changed }: CallDecision): Told {
  if (!approve) return { kind: 'rejected', call, ...(reason !== undefined && { text: reason }) };
  return { kind: changed === undefined ? 'approved' : 'edited', call };
}

/**
 * Reads a message to a run for its trace; null for one that changes nothing. The workflow reads what it hears here, and
 * the history reader what was sent, so that both tell the same.
 * @param name of the signal or update @param args what was sent: the message and, perhaps, its sender
 * @param answer of the run to `SET_LIMITS_UPDATE`, which is told once it is answered
 */
export function readMessage(
  name: string,
  [said, sender]: readonly unknown[],
  at: string,
  answer?: unknown,
): Steered | null {
  const told = READERS[name]?.(said, answer) ?? null;
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
 * `hint from ada: Use metric units.`, `limits set: depth 2, cost $0.0001 (held: $0.0132)`,
 * `plan rejected by ada: too dear`, `call 2.coder.1.1 approved by ada`.
 */
export function describeSteered({ kind, by, call, text, limits = {}, held = {} }: Steered): string {
  if (kind === 'limits') {
    const set = (Object.entries(limits) as [keyof LimitsChange, number | null][]).map(([name, limit]) => {
      const [word, show] = LIMITS[name];
      const more = held[name];
      return `${word} ${orNone(limit, show)}${more === undefined ? '' : ` (held: ${orNone(more, show)})`}`;
    });
    return `limits set${whose('by', by)}: ${set.join(', ')}`;
  }
  const decided = call === undefined ? 'plan' : `call ${call}`;
  const what = kind === 'hint' ? `hint${whose('from', by)}` : `${decided} ${kind}${whose('by', by)}`;
  return text === undefined ? what : `${what}: ${text}`;
}

function whose(how: 'by' | 'from', name: string | undefined): string {
  return name === undefined ? '' : ` ${how} ${name}`;
}

type Show = (limit: number) => string;

const orNone = (limit: number | null, show: Show): string => (limit === null ? 'none' : show(limit));

const showCount: Show = (limit) => limit.toLocaleString('en-US');

const LIMITS: Readonly<Record<keyof LimitsChange, readonly [word: string, show: Show]>> = {
  steps: ['steps', showCount],
  depth: ['depth', showCount],
  calls: ['calls', showCount],
  tokens: ['tokens', showCount],
  costUsd: ['cost', describeUsd],
  wallClockMs: ['time', describeMs],
};

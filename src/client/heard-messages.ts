import { isRecord } from '../plan/validate';
import { KeyRights } from '../protocol/key-rights';
import { isDepth, type LimitsChange, MAX_HINTS, MAX_MESSAGES } from '../protocol/messages';
import { ADD_HINT_SIGNAL, SET_LIMITS_UPDATE, SET_MAX_DEPTH_SIGNAL } from '../protocol/names';
import { runLimitsOf } from '../protocol/rights';
import type { Steered } from '../protocol/solve';
import { readMessage } from '../trace/steered';

/** A signal or update as it was sent: its arguments are a value and, perhaps, its sender. */
export interface SentMessage {
  readonly name: string;
  readonly args: readonly unknown[];
}

/** Signals of each name that a run hears. */
const MOST_SIGNALS: Readonly<Record<string, number>> = {
  [ADD_HINT_SIGNAL]: MAX_HINTS,
  [SET_MAX_DEPTH_SIGNAL]: MAX_MESSAGES,
};

/** Which messages a run heeds: a bounded number of each kind, and none that its sender may not send. */
export class HeardMessages {
  private waiting: SentMessage[] = [];
  private readonly heard = new Map<string, number>();
  private readonly decided = new Set<string>();
  /** Changes of limits that wait for the run's answer, by the event that accepted them. */
  private readonly changes = new Map<string, SentMessage>();
  private readonly rights: KeyRights;

  /** @param input unchecked input of the run, with the rights of the key that started it */
  constructor(input: unknown) {
    this.rights = new KeyRights(input);
  }

  /** Takes a signal, which the run hears in its next workflow task. */
  send(signal: SentMessage): void {
    this.waiting.push(signal);
  }

  /** Returns what the signals told the run that waited for this workflow task. */
  hearAll(now: string): Steered[] {
    const signals = this.waiting;
    this.waiting = [];
    return signals.filter((signal) => this.isHeeded(signal)).flatMap((signal) => this.take(signal, now));
  }

  /** Returns what an accepted update told the run, or nothing. A change of limits is told with its answer. */
  accept(id: string, update: SentMessage, now: string): Steered[] {
    const { name, args } = update;
    if (name !== SET_LIMITS_UPDATE) return this.take(update, now);
    this.rights.note(runLimitsOf(args[0] as LimitsChange), args[1]);
    this.changes.set(id, update);
    return [];
  }

  /** Returns the change of limits that the run has answered. @param held null: it failed */
  answer(id: string, held: unknown, now: string): Steered[] {
    const change = this.changes.get(id);
    const message = change && isRecord(held) ? readMessage(change.name, change.args, now, held) : null;
    return message === null ? [] : [message];
  }

  private take({ name, args }: SentMessage, now: string): Steered[] {
    const message = readMessage(name, args, now);
    if (message === null) return [];
    if (message.call !== undefined && this.isRepeated(message.call)) return [];
    if (message.limits !== undefined) this.rights.note(runLimitsOf(message.limits as LimitsChange), args[1]);
    return [message];
  }

  /** A decision on a call is accepted again and changes nothing. */
  private isRepeated(call: string): boolean {
    const isRepeated = this.decided.has(call);
    this.decided.add(call);
    return isRepeated;
  }

  private isHeeded({ name, args: [value, sender] }: SentMessage): boolean {
    const heard = (this.heard.get(name) ?? 0) + 1;
    this.heard.set(name, heard);
    if (heard > (MOST_SIGNALS[name] ?? 0)) return false;
    if (name !== SET_MAX_DEPTH_SIGNAL || !isDepth(value)) return true;
    return this.rights.findExcess({ depth: value }, sender) === null;
  }
}

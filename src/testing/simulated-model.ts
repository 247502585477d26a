import { hash } from 'node:crypto';
import { nanoUsdOf } from '../budget/nano-usd';
import type { Usage } from '../protocol/solve';
import type { Price } from '../protocol/cards';
import type { Fault } from './faults';
import type { Prompt, Protocol, SimulatedCall } from './wire/wire';

/** A well-formed answer from a simulated model. */
export interface Reply {
  readonly text: string;
  /** Default `stop`. `refusal`: the model declined; `filtered`: a safety filter stopped it. */
  readonly finish?: 'stop' | 'length' | 'refusal' | 'filtered';
  readonly refusal?: string;
  /** Tools that it calls. */
  readonly calls?: readonly SimulatedCall[];
  /** Thoughts before its calls: the vendor signs them, and refuses a later request that changes or lacks them. */
  readonly thoughts?: string;
  /** Counts that are left out are derived from the texts; cached and reasoning tokens default to 0. */
  readonly usage?: Partial<Usage>;
  readonly delayMs?: number;
}

/** Answer to one request. A string stands for a reply with that text. */
export type Answer = string | Reply | Fault;

/** A request as an answering function sees it. */
export interface SimulatedRequest extends Prompt {
  readonly sequence: number;
  readonly protocol: Protocol;
  /** From the header `X-Client-Request-Id`; null if there is none. */
  readonly callId: string | null;
  readonly text: string;
}

/** Answers each request by its content; the same request should always get the same answer. */
export type AnswerFunction = (request: SimulatedRequest) => Answer;

export interface ModelBehaviour {
  /** Default: a short text that differs between models and between prompts. */
  readonly answer?: Answer | AnswerFunction;
  readonly script?: readonly Answer[];
  readonly delayMs?: number;
  /** Answers by their share of the unscripted requests; drawn from the seed and the prompt, whatever the order. */
  readonly schedule?: readonly { readonly share: number; readonly answer: Answer }[];
  /** USD per million tokens, for the amounts in the log; the same as the price on the caller's card. */
  readonly price?: Price;
}

/** One simulated model: its next answers, and the gates that hold them back. */
export class SimulatedModel {
  readonly delayMs: number;
  readonly script: Answer[];
  /** Faults of the next lookups of its background responses. */
  readonly lookupFaults: Fault[] = [];
  answer: Answer | AnswerFunction;
  private readonly gates = new Set<Promise<void>>();
  private readonly seen = new Map<string, number>();
  private readonly kept = new Set<string>();

  constructor(
    private readonly behaviour: ModelBehaviour,
    private readonly seed: number,
  ) {
    this.delayMs = behaviour.delayMs ?? 0;
    this.script = [...(behaviour.script ?? [])];
    this.answer = behaviour.answer ?? plainAnswer;
  }

  hold(): () => void {
    let open: () => void = () => undefined;
    const gate = new Promise<void>((resolve) => (open = resolve));
    this.gates.add(gate);
    return () => {
      this.gates.delete(gate);
      open();
    };
  }

  async opened(): Promise<void> {
    await Promise.all(this.gates);
  }

  /** Returns the next answer of the script, else one that the schedule draws, else the standing answer. */
  next(request: SimulatedRequest): Answer {
    return this.script.shift() ?? this.drawScheduled(request) ?? this.standingAnswer(request);
  }

  /** Returns the standing answer, or a plain one if that is a fault. */
  ownReply(request: SimulatedRequest): Reply {
    const standing = this.standingAnswer(request);
    if (typeof standing === 'string') return { text: standing };
    return 'fault' in standing ? { text: plainAnswer(request) } : standing;
  }

  /** Adds a prompt's prefix to the model's cache, and returns whether it is new. */
  keep(prefix: string): boolean {
    return this.kept.size < this.kept.add(prefix).size;
  }

  /** Returns a bill in nano-USD; null if the model's price is unknown. */
  charge(usage: Usage | null): number | null {
    if (usage === null) return 0;
    const { price } = this.behaviour;
    return price === undefined ? null : nanoUsdOf(usage, price);
  }

  private standingAnswer(request: SimulatedRequest): Answer {
    return typeof this.answer === 'function' ? this.answer(request) : this.answer;
  }

  private drawScheduled({ model, text }: SimulatedRequest): Answer | undefined {
    const occurrence = (this.seen.get(text) ?? 0) + 1;
    this.seen.set(text, occurrence);
    const drawn = draw(this.seed, model, text, occurrence);
    let upTo = 0;
    return this.behaviour.schedule?.find(({ share }) => drawn < (upTo += share))?.answer;
  }
}

/** Different for each model and each prompt, so that a test can tell who answered what. */
function plainAnswer({ model, text }: SimulatedRequest): string {
  return `${model} answers ${hash('sha256', text).slice(0, 12)}`;
}

/** Returns a uniform number in [0, 1) that depends only on the arguments: the first 48 bits of their SHA-256. */
export function draw(...key: readonly (string | number)[]): number {
  const digest = hash('sha256', JSON.stringify(key), 'buffer');
  return digest.readUIntBE(0, 6) / 2 ** 48;
}

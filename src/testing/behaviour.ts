import type { Usage } from '../protocol/call';
import type { Price } from '../protocol/cards';
import type { Fault } from './faults';
import type { Prompt, Protocol } from './wire/wire';

/** A well-formed answer of a simulated model. */
export interface Reply {
  readonly text: string;
  /** Default `stop`. `refusal`: the model declined; `filtered`: a safety filter stopped it. */
  readonly finish?: 'stop' | 'length' | 'refusal' | 'filtered';
  /** Why it declined; only with `finish: 'refusal'`. */
  readonly refusal?: string;
  /** Counts that are left out come from the texts; cached and reasoning tokens default to 0. */
  readonly usage?: Partial<Usage>;
  /** Added to the model's own latency, in milliseconds. */
  readonly delayMs?: number;
}

/** Answer to one request. A string stands for a reply of that text. */
export type Answer = string | Reply | Fault;

/** A request as an answering function sees it. */
export interface SimulatedRequest extends Prompt {
  readonly sequence: number;
  readonly protocol: Protocol;
  /** From the header `X-Client-Request-Id`; null where there is none. */
  readonly callId: string | null;
  /** All messages, one after the other, for simple recognition. */
  readonly text: string;
}

/** Answers each request by what it asks; the same request should get the same answer. */
export type AnswerFunction = (request: SimulatedRequest) => Answer;

/** How one simulated model behaves. */
export interface ModelBehaviour {
  /** Default: a short text that differs between models and between prompts. */
  readonly answer?: Answer | AnswerFunction;
  readonly script?: readonly Answer[];
  /** Latency in milliseconds; default 0. */
  readonly delayMs?: number;
  /**
   * Which share of the unscripted requests, 0 to 1, gets which answer; the rest gets the standing one.
   *
   * Drawn from the seed, the model, the prompt and how often that prompt arrived: the same requests meet the same
   * answers in whatever order they arrive, and a retry is drawn anew.
   */
  readonly schedule?: readonly { readonly share: number; readonly answer: Answer }[];
  /** USD per million tokens, for the amounts in the log; the same as on the caller's card, for the sums to agree. */
  readonly price?: Price;
}

import { z } from 'zod';
import { priceSchema } from '../config/settings';
import { type Fault, faultSchema } from './faults';
import type { Prompt, Protocol } from './wire/wire';

const tokens = z.int().nonnegative().exactOptional();

const replySchema = z.strictObject({
  text: z.string(),
  /** Default `stop`. `refusal`: the model declined; `filtered`: a safety filter stopped it. */
  finish: z.enum(['stop', 'length', 'refusal', 'filtered']).exactOptional(),
  /** Why it declined; only with `finish: 'refusal'`. */
  refusal: z.string().exactOptional(),
  /** What is left out is counted from the texts, the same each time; cached and reasoning tokens default to 0. */
  usage: z
    .strictObject({
      inputTokens: tokens,
      outputTokens: tokens,
      cachedInputTokens: tokens,
      reasoningTokens: tokens,
    })
    .exactOptional(),
  /** Added to the model's own latency, in milliseconds. */
  delayMs: z.int().nonnegative().exactOptional(),
});
/** A well-formed answer of a simulated model. */
export type Reply = z.infer<typeof replySchema>;

/** Told apart by its shape first, so that an error speaks of what was meant and not of all three. */
const answerSchema = z.unknown().transform((value, context): Answer => {
  const isFault = typeof value === 'object' && value !== null && 'fault' in value;
  const meant = isFault ? faultSchema : typeof value === 'string' ? z.string() : replySchema;
  const read = meant.safeParse(value);
  if (read.success) return read.data;
  for (const { message, path } of read.error.issues) context.addIssue({ code: 'custom', message, path });
  return z.NEVER;
});
/** What one request gets. A string stands for a reply of that text. */
export type Answer = string | Reply | Fault;

/** A request as an answering function sees it. */
export interface SimulatedRequest extends Prompt {
  /** Position in the log, from 1. */
  readonly sequence: number;
  readonly protocol: Protocol;
  /** From the header `X-Client-Request-Id`; null where there is none. */
  readonly callId: string | null;
  /** All messages, one after the other, for simple recognition. */
  readonly text: string;
}

/**
 * Which share of the unscripted requests, 0 to 1, gets which answer; the rest gets the standing one.
 *
 * Drawn from the seed, the model, the prompt and how often that prompt arrived: the same requests meet the same answers
 * in whatever order they arrive, and a retry is drawn anew.
 */
const scheduleSchema = z
  .array(z.strictObject({ share: z.number().min(0).max(1), answer: answerSchema }))
  // Sums of decimal fractions, which floats miss by a hair.
  .refine((parts) => parts.reduce((sum, { share }) => sum + share, 0) <= 1 + 1e-9, {
    error: 'the shares of a schedule add up to more than 1: lower some of them',
  });

const behaviourSchema = z.strictObject({
  /** Default: a short text that differs between models and between prompts. */
  answer: answerSchema.exactOptional(),
  /** Answers of the first requests, in order. */
  script: z.array(answerSchema).exactOptional(),
  /** Latency in milliseconds; default 0. */
  delayMs: z.int().nonnegative().exactOptional(),
  schedule: scheduleSchema.exactOptional(),
  /** USD per million tokens, for the amounts in the log; the same as on the caller's card, for the sums to agree. */
  price: priceSchema.exactOptional(),
});

/** Answers each request by what it asks; the same request should get the same answer. */
export type AnswerFunction = (request: SimulatedRequest) => Answer;

/** How one simulated model behaves. */
export type ModelBehaviour = Omit<z.infer<typeof behaviourSchema>, 'answer'> & {
  readonly answer?: Answer | AnswerFunction;
};

/** A whole simulation as plain data, for a file: behaviours by model name. */
export const simulationSchema = z.strictObject({
  /** Decides what a `schedule` gives to which request; default 0. */
  seed: z.int().exactOptional(),
  models: z.record(z.string(), behaviourSchema).exactOptional(),
  /** For every model not named; default: plain answers. */
  fallback: behaviourSchema.exactOptional(),
});

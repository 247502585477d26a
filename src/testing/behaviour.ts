import { z } from 'zod';
import { faultSchema } from './faults';
import type { Prompt, Protocol } from './wire/wire';

const tokens = z.int().nonnegative().exactOptional();

/** A reply as scripts write it. */
const replySchema = z.strictObject({
  text: z.string(),
  /** Default `stop`. `refusal`: the model declined; `filtered`: a safety filter stopped it. */
  finish: z.enum(['stop', 'length', 'refusal', 'filtered']).exactOptional(),
  /** The model's words on why it declined; only with `finish: 'refusal'`. */
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

/** An answer as scripts write it. */
const answerSchema = z.union([z.string(), replySchema, faultSchema]);
/** What one request gets. A string stands for a reply of that text. */
export type Answer = z.infer<typeof answerSchema>;

/** A request as an answering function sees it: decoded, in no vendor's dialect. */
export interface SimulatedRequest extends Prompt {
  /** Position in the log, from 1. */
  readonly sequence: number;
  readonly protocol: Protocol;
  /** All messages, one after the other, for simple recognition. */
  readonly text: string;
}

/** A behaviour as files write it: as plain data. */
const behaviourSchema = z.strictObject({
  /** Default: a short text that differs between models and between prompts. */
  answer: answerSchema.exactOptional(),
  /** Answers of the first requests, in order. */
  script: z.array(answerSchema).exactOptional(),
  /** Latency in milliseconds; default 0. */
  delayMs: z.int().nonnegative().exactOptional(),
  /** Share of the unscripted requests that get one of `faults`, 0 to 1; default 0. */
  faultRate: z.number().min(0).max(1).exactOptional(),
  faults: z.array(answerSchema).exactOptional(),
});

/** Answers each request by what it asks; the same request should get the same answer. */
export type AnswerFunction = (request: SimulatedRequest) => Answer;

/** How one simulated model behaves. */
export type ModelBehaviour = Omit<z.infer<typeof behaviourSchema>, 'answer'> & {
  readonly answer?: Answer | AnswerFunction;
};

/** A whole simulation as plain data, for a file: behaviours by model name. */
export const simulationSchema = z.strictObject({
  /** Decides which requests meet a fault where a model has a `faultRate`; default 0. */
  seed: z.int().exactOptional(),
  models: z.record(z.string(), behaviourSchema).exactOptional(),
  /** For every model not named; default: plain answers. */
  fallback: behaviourSchema.exactOptional(),
});

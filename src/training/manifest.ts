import { z } from 'zod';
import { checkpointSchema } from './trainer-contract';

/**
 * How a checkpoint must be asked, so that it is served exactly as it was trained. Kept beside it in the store, never
 * changed; whatever `conductor.yaml` says of prompts, the manifest decides.
 */
export const manifestSchema = z.strictObject({
  schema: z.literal(1),
  ...checkpointSchema.shape,
  /** Name in requests to the policy server. */
  model: z.string(),
  /** `full`: the instructions that any Conductor gets; `compact`: question and team only, for a tiny policy that knows the rules by training. */
  prompt: z.enum(['full', 'compact']),
  /** Turns are written as ChatML, with these markers known to the tokenizer. */
  chat: z.literal('chatml'),
  describe: z.enum(['ordinals', 'names', 'notes']),
  maxSteps: z.int().positive(),
  trainedAtTemperature: z.number(),
  /** Temperature of serving. */
  temperature: z.number(),
  maxPromptTokens: z.int().positive(),
  maxOutputTokens: z.int().positive(),
  /** Base URLs of the policy servers it was published to. */
  servers: z.array(z.string()).min(1),
  createdAt: z.string(),
});
export type Manifest = z.infer<typeof manifestSchema>;

const pointerSchema = z.strictObject({ trainRun: z.string(), name: z.string() });

/** Which checkpoint answers. One object in the store, replaced as a whole. */
export const servingSchema = z.strictObject({
  schema: z.literal(1),
  serving: pointerSchema.nullable(),
  /** Policies that `rollback` returns to; newest last. */
  before: z.array(pointerSchema.nullable()),
  /** No gate replaces it while this is true. */
  pinned: z.boolean(),
  reason: z.string(),
  at: z.string(),
});
export type Serving = z.infer<typeof servingSchema>;

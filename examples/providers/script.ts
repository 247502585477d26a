import { z } from 'zod';
import { priceSchema } from '../../src/config/field-schemas';
import type { Answer, Simulation } from '../../src/testing';
import { BREAKAGES, ERRORS, FLAWS, SPOILED } from '../../src/testing/faults';

const kindsOf = <Kind extends string>(faults: Readonly<Record<Kind, unknown>>): Kind[] =>
  Object.keys(faults) as Kind[];
const STATED = kindsOf(ERRORS);
const PLAIN = kindsOf({ ...BREAKAGES, ...SPOILED, ...FLAWS }).filter((kind) => kind !== 'drip');

const retryAfterSchema = z.strictObject({
  ms: z.int().nonnegative(),
  as: z.enum(['milliseconds', 'seconds', 'date', 'retry-info']),
});

const faultSchema = z.discriminatedUnion(
  'fault',
  [
    z.strictObject({
      fault: z.enum(STATED),
      retryAfter: retryAfterSchema.exactOptional(),
      message: z.string().exactOptional(),
      late: z.literal(true).exactOptional(),
    }),
    z.strictObject({ fault: z.enum(PLAIN) }),
    z.strictObject({ fault: z.literal('drip'), ms: z.int().positive().exactOptional() }),
  ],
  { error: `no such fault; there are ${[...STATED, ...PLAIN, 'drip'].join(', ')}` },
);

const tokens = z.int().nonnegative().exactOptional();

/** Tool that a model calls. */
const callSchema = z.strictObject({
  name: z.string(),
  input: z.union([z.string(), z.looseObject({})]),
});

const replySchema = z.strictObject({
  text: z.string(),
  finish: z.enum(['stop', 'length', 'refusal', 'filtered']).exactOptional(),
  refusal: z.string().exactOptional(),
  calls: z.array(callSchema).exactOptional(),
  usage: z
    .strictObject({
      inputTokens: tokens,
      outputTokens: tokens,
      cachedInputTokens: tokens,
      reasoningTokens: tokens,
    })
    .exactOptional(),
  delayMs: z.int().nonnegative().exactOptional(),
});

/** Chooses the schema by the value's shape, so that errors concern the intended form and not all three. */
const answerSchema = z.unknown().transform((value, context): Answer => {
  const isFault = typeof value === 'object' && value !== null && 'fault' in value;
  const meant = isFault ? faultSchema : typeof value === 'string' ? z.string() : replySchema;
  const read = meant.safeParse(value);
  if (read.success) return read.data;
  for (const { message, path } of read.error.issues) context.addIssue({ code: 'custom', message, path });
  return z.NEVER;
});

const scheduleSchema = z
  .array(z.strictObject({ share: z.number().min(0).max(1), answer: answerSchema }))
  // Allows for rounding errors in sums of decimal fractions.
  .refine((parts) => parts.reduce((sum, { share }) => sum + share, 0) <= 1 + 1e-9, {
    error: 'the shares of a schedule add up to more than 1: lower some of them',
  });

const behaviourSchema = z.strictObject({
  answer: answerSchema.exactOptional(),
  script: z.array(answerSchema).exactOptional(),
  delayMs: z.int().nonnegative().exactOptional(),
  schedule: scheduleSchema.exactOptional(),
  price: priceSchema.exactOptional(),
});

/** Schema of a simulation file: behaviours by model name. */
export const simulationSchema: z.ZodType<Simulation> = z.strictObject({
  seed: z.int().exactOptional(),
  models: z.record(z.string(), behaviourSchema).exactOptional(),
  fallback: behaviourSchema.exactOptional(),
});

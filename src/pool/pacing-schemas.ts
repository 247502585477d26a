import { z } from 'zod';
import { durationSchema } from './duration';

const count = z.int().positive();

/** What one worker process holds its calls of a model to; each key stands alone. */
export const pacing = {
  rate: z
    .strictObject({ requestsPerMinute: count.exactOptional(), tokensPerMinute: count.exactOptional() })
    .exactOptional(),
  /** Requests at a time. */
  concurrency: count.exactOptional(),
  /** After so many failures in a row the model is left alone for a while; false: never. */
  circuit: z
    .union(
      [
        z.literal(false),
        z.strictObject({ failures: count.exactOptional(), pause: durationSchema.exactOptional() }),
      ],
      { error: 'expected false, or { failures, pause }: a whole number from 1 and a duration' },
    )
    .exactOptional(),
};

/** By provider: calls that Temporal starts in a second, over all worker processes. */
export const callsPerSecondSchema = z.strictObject({
  openai: z.number().positive().exactOptional(),
  anthropic: z.number().positive().exactOptional(),
  google: z.number().positive().exactOptional(),
  local: z.number().positive().exactOptional(),
  policy: z.number().positive().exactOptional(),
});

/** Checks that no rate of a queue is passed by: groups with slots of their own wait in another one. */
export function checkSlots(
  { temporal, training }: { temporal: { callsPerSecond?: unknown }; training?: { slots: number | null } },
  context: z.RefinementCtx,
): void {
  if (temporal.callsPerSecond === undefined || (training?.slots ?? null) === null) return;
  context.addIssue({
    code: 'custom',
    path: ['training', 'slots'],
    message:
      'calls of nights with slots of their own would not be counted in temporal.callsPerSecond; remove one of the two',
  });
}

/** Checks that rates of queues are asked for only where there are such queues. */
export function checkQueues(
  { queuePerProvider, callsPerSecond }: { queuePerProvider: boolean; callsPerSecond?: unknown },
  context: z.RefinementCtx,
): void {
  if (callsPerSecond === undefined || queuePerProvider) return;
  context.addIssue({
    code: 'custom',
    path: ['callsPerSecond'],
    message:
      'a rate by provider is kept by the queue of that provider; set queuePerProvider: true or remove it',
  });
}

import { z } from 'zod';

/** One step of a plan: who does what, and which earlier outputs they may see. */
export const stepSchema = z.strictObject({
  worker: z.string().min(1),
  subtask: z.string(),
  /** Indices of earlier steps, ascending and without repeats. */
  sees: z.array(z.int().nonnegative()),
});

/** What the Conductor decided. No steps at all means: the previous answer stands. */
export const planSchema = z.strictObject({ steps: z.array(stepSchema) });

export type Step = Readonly<Omit<z.infer<typeof stepSchema>, 'sees'>> & { readonly sees: readonly number[] };
export interface Plan {
  readonly steps: readonly Step[];
}

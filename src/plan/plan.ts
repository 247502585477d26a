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

/** What a plan is judged by. */
export interface PlanContext {
  /** Ids of the workers in the order of the prompt: the index is the ordinal that the Conductor writes. */
  readonly workers: readonly string[];
  readonly maxSteps: number;
  /** 0 for the first plan of a run; only a later one may be empty and so accept the answer at hand. */
  readonly round: number;
}

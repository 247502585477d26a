import { z } from 'zod';

// Apart from `plan.ts`, which the workflow sandbox loads without zod.

const stepSchema = z.strictObject({
  worker: z.string().min(1),
  subtask: z.string(),
  sees: z.array(z.int().nonnegative()).readonly(),
});
export const planSchema = z.strictObject({ steps: z.array(stepSchema).readonly() });

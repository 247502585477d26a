import type { z } from 'zod';
import { solveResultSchema } from '../protocol/solve';

/** What a program that asked the team is told of a solve: fields of its trace, by the names there. */
export const toldSolveSchema = solveResultSchema.pick({
  id: true,
  status: true,
  answer: true,
  error: true,
  degraded: true,
  stoppedBy: true,
  waitsFor: true,
  costUsd: true,
  costIsLowerBound: true,
});
export type ToldSolve = z.infer<typeof toldSolveSchema>;

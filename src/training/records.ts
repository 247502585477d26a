import { z } from 'zod';

const checkpoint = z.object({ trainRun: z.string(), name: z.string() });
const questions = z.object({ set: z.string(), count: z.int().positive() });

/** How far a training run has come, all its nights together. One object in the store, replaced as a whole. */
export const runRecordSchema = z.object({
  schema: z.literal(1),
  trainRun: z.string(),
  /** The last cycle that is over; 0 before the first. */
  done: z.int().nonnegative(),
  /** What the next night goes on from; null before the first cycle is over. */
  checkpoint: checkpoint.nullable(),
});
export type RunRecord = z.infer<typeof runRecordSchema>;

/** What became of one night. One object in the store, replaced as a whole. */
export const nightRecordSchema = z.object({
  schema: z.literal(1),
  trainRun: z.string(),
  /** Local calendar date. */
  date: z.string(),
  /** The cycles that it claimed. */
  first: z.int().positive(),
  last: z.int().positive(),
  /** The last one that is over; `first - 1` where none is. */
  done: z.int().nonnegative(),
  /** Where it stands; null while the trainer has yet to make the first checkpoint. */
  checkpoint: checkpoint.nullable(),
  /** Where it began; absent in records of versions that did not note it. */
  begun: checkpoint.nullable().optional(),
  train: questions,
  heldOut: questions,
  openedAt: z.string(),
  /** null while it is under way, or was interrupted. */
  closedAt: z.string().nullable(),
  /** What the gate decided, in a sentence; null where it was not asked. */
  decision: z.string().nullable(),
});
export type NightRecord = z.infer<typeof nightRecordSchema>;

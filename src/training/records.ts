import { z } from 'zod';

const checkpoint = z.object({ trainRun: z.string(), name: z.string() });
const questions = z.object({ set: z.string(), count: z.int().positive() });

/** How far a training run has come, all its nights together. One object in the store, replaced as a whole. */
export const runRecordSchema = z.object({
  schema: z.literal(1),
  trainRun: z.string(),
  /** The last cycle that is over; 0 before the first. */
  done: z.int().nonnegative(),
  /** Checkpoint that the next night continues from; null before the first cycle is over. */
  checkpoint: checkpoint.nullable(),
  /** Checkpoint that samples the next cycle's plans, after an interrupted night that samples ahead. */
  writer: checkpoint.nullable().optional(),
});
export type RunRecord = z.infer<typeof runRecordSchema>;

/** Result of one night. One object in the store, replaced as a whole. */
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
  /** Where it began; null as `checkpoint`. */
  begun: checkpoint.nullable(),
  /** `topics`: how many there are of each topic, which lie together. */
  train: questions.extend({ topics: z.array(z.int().positive()).readonly() }),
  heldOut: questions,
  openedAt: z.string(),
  /** null while it is under way, or was interrupted. */
  closedAt: z.string().nullable(),
  /** Decision of the gate, in a sentence; null if it was not asked. */
  decision: z.string().nullable(),
});
export type NightRecord = z.infer<typeof nightRecordSchema>;

/** Cycles that a night may train. `isTrained`: none. */
export type Claim = Pick<NightRecord, 'first' | 'last' | 'done'> & { readonly isTrained: boolean };

/**
 * The cycles of a night. A night of a new date (null) claims those that follow the run's last; one that is there already
 * keeps those it has, so that a second start, a backfill or the hour that a clock change repeats does not train it twice.
 *
 * What a night leaves untrained, however it ended, is there for the next one: no cycle is left out, and what was sampled
 * for it serves again. The earlier night then has nothing left to do, lest two lines of descent be mixed up; but where it
 * had trained nothing yet, it begins after them.
 *
 * @param total what the run may have in all: no night claims more
 */
export function claimNight(
  run: RunRecord | null,
  night: NightRecord | null,
  { cycles, total }: { readonly cycles: number; readonly total: number },
): Claim {
  const trained = run?.done ?? 0;
  if (night === null || night.done < night.first) {
    const count = night === null ? cycles : 1 + night.last - night.first;
    const last = Math.max(trained, Math.min(trained + count, total));
    return { first: trained + 1, last, done: trained, isTrained: false };
  }
  const { first, last, done, closedAt } = night;
  const isOver = closedAt !== null && done >= last;
  return { first, last, done, isTrained: isOver || isOvertaken(night, run) };
}

/** A later night has trained what this one left: it does not go on from where it stands. */
export function isOvertaken({ done }: NightRecord, run: RunRecord | null): boolean {
  return done < (run?.done ?? 0);
}

import { z } from 'zod';
import { ConductorError } from '../../errors';

// What a stream of events has emitted so far, which its cursor holds.

const stepSchema = z.object({
  /** Attempt of the call whose text was emitted last; null: none was. */
  call: z.string().nullable(),
  /** Start of that attempt; texts of earlier attempts come too late. */
  since: z.string(),
  attempt: z.int(),
  /** Its turn, in a step with tools. */
  turn: z.int().optional(),
  /** Characters that were emitted of its text; `thoughts` counts those of its thoughts. */
  characters: z.int(),
  thoughts: z.int().default(0),
  /** Last characters of its text or, before that, of its thoughts. */
  tail: z.string().default(''),
  /** Characters of its log that were emitted; absent as long as they are the text alone. */
  logged: z.int().optional(),
  /** A letter for each call of a tool, in their order: `c` if its beginning was emitted, `e` if its end was. */
  tools: z.string().optional(),
  ended: z.enum(['answered', 'failed']).nullable(),
});
export type ToldStep = z.infer<typeof stepSchema>;

const planningSchema = z.object({
  /** Attempt of the call whose reply was emitted last. */
  call: z.string(),
  since: z.string(),
  attempt: z.int(),
  characters: z.int(),
});

export type ToldReply = z.infer<typeof planningSchema>;

export const NO_REPLY: ToldReply = { call: '', since: '', attempt: 0, characters: 0 };

/** Events emitted so far, by the places of rounds and steps. */
const toldSchema = z.object({
  planned: z.array(z.string()),
  /** Replies of the Conductor that are to be plans. */
  planning: z.record(z.string(), planningSchema).default({}),
  reviewed: z.array(z.string()),
  steps: z.record(z.string(), stepSchema),
  /** Waits in progress. */
  waits: z.array(z.string()),
  /** Calls of the caller's functions that were told and wait for their results. */
  callerCalls: z.array(z.string()).default([]),
  isOver: z.boolean(),
});
export type ToldState = z.infer<typeof toldSchema>;

export const NOTHING_TOLD: ToldState = {
  planned: [],
  planning: {},
  reviewed: [],
  steps: {},
  waits: [],
  callerCalls: [],
  isOver: false,
};

/** Thrown for a text that is not a cursor. */
export class BadCursorError extends ConductorError {
  override readonly name = 'BadCursorError';
  readonly code = 'BadCursor';
}

/** Decodes a cursor, which is opaque to callers. @throws BadCursorError */
export function readCursor(cursor: string): ToldState {
  try {
    return toldSchema.parse(JSON.parse(Buffer.from(cursor, 'base64url').toString()));
  } catch (cause) {
    const shown = JSON.stringify(cursor.slice(0, 40));
    throw new BadCursorError(`${shown} is no cursor: give "after" the cursor of an event of this run`, {
      cause,
    });
  }
}

/** Encodes what was emitted as a cursor. */
export function cursorOf(told: ToldState): string {
  return Buffer.from(JSON.stringify(told)).toString('base64url');
}

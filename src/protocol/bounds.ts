/**
 * The most model requests of one run, children included. Its result lists them all and must fit one payload (2 MB);
 * at about 6 KB a call with its step, 200 leave room.
 */
export const MAX_CALLS = 200;

/** The highest cost limit: in nano-USD it must stay an exact integer, and nobody means more. */
export const MAX_COST_USD = 1_000_000;

/** The longest subtask a plan may hold, in UTF-8 bytes: several pages, yet a history stays small. */
export const MAX_SUBTASK_BYTES = 8 * 1024;

/** The longest hint, or reason for a rejection: a page. It travels in signals and prompts, and is shown whole. */
export const MAX_HINT_CHARACTERS = 4000;

/*
 * Every regular expression that meets a model's reply. None holds a quantifier without an upper bound, so that one
 * match costs constant time and reading a reply costs linear time, whatever the reply is.
 */

/** The names that models give the lists. Groups: model_id, subtasks, access_list, steps (our JSON shape). */
const LABEL = '(model[ _]?ids?)|(sub[ _]?tasks?)|(access(?:[ _]?lists?)?)|(steps)';

/** The next label, or a tag that opens or closes a reasoning block (group 1: its slash). */
export const MARK = new RegExp(
  `<(/?)(?:think|thinking|reasoning)>|(?<![\\p{L}\\p{N}_])(?:${LABEL})(?![\\p{L}\\p{N}_])`,
  'giu',
);

/** A label that begins a list of its own: where an entry should be, it shows that a bracket was never closed. */
export const LABEL_AHEAD = new RegExp(
  `(?:"(?:${LABEL})"|'(?:${LABEL})'|[*\`]{0,3}(?:${LABEL})[*\`]{0,3})[ \\t]{0,8}[:=]`,
  'iy',
);

/** `all` as the whole of an access list, at the end of its line. */
export const ALL_ALONE = /["'“‘]?all["'”’]?[ \t]{0,8}[,}`]{0,3}[ \t]{0,8}(?=\r?\n|$)/iy;

/** What begins an item of a bulleted or numbered list. */
export const BULLET = /(?:[-*•]|\d{1,5}[.)])[ \t]{1,16}/y;

/** An entry without quotes that is surely one: a number, a word of an access list, a key as in JavaScript. */
export const BARE_ENTRY = /(?:-?\d{1,9}|all|none|null)\s{0,8}[,\]}]|[a-z_]{1,16}[ \t]{0,8}:/iy;

/** The part of an escape that follows its back-slash, where it spells a character by number. */
export const NUMBERED_ESCAPE = /u([\da-fA-F]{4})|U([\da-fA-F]{8})|x([\da-fA-F]{2})/y;

/** A number that can be an ordinal or a step index. */
export const ORDINAL = /^\d{1,9}$/;

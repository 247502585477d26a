import type { SolveResult } from '../../protocol/solve';
import type { LiveText } from '../../store/stream-log';
import type { ToldStep } from './told-state';

type Step = SolveResult['rounds'][number]['steps'][number];

/** Piece of what a model wrote for a step: of its thoughts, or of its text after them. */
export interface TextPiece {
  /** `<call id>/<attempt>`. */
  readonly call: string;
  readonly since: string;
  readonly turn?: number | undefined;
  /** Position in the log of this attempt. */
  readonly offset: number;
  readonly text: string;
  readonly isThoughts?: true;
}

/** Returns a piece of the log as a piece of its step. */
export function pieceOf({ callId, attempt, startedAt: since, ...piece }: LiveText): TextPiece {
  const { turn, offset, text, isThoughts } = piece;
  return { call: `${callId}/${attempt}`, since, turn, offset, text, ...(isThoughts && { isThoughts }) };
}

/** Whether a piece is of an earlier attempt, or of a step whose end brought the rest. */
export function isTooLate({ call, since }: TextPiece, told: ToldStep): boolean {
  if (told.ended === 'answered') return true;
  return call === told.call ? told.ended !== null : since <= told.since;
}

/** Characters by which a text is recognized as the beginning of another. */
const TAIL = 16;

/** Returns the end of what was emitted, which the cursor holds instead of all of it. */
export function tailOf(emitted: string): string {
  return emitted.slice(-TAIL);
}

/** Whether the text that was emitted is the beginning of an output, as far as is known of it. */
export function isBeginningOf(output: string, { characters, tail }: ToldStep): boolean {
  return characters === 0 || output.slice(0, characters).endsWith(tail);
}

/** Whether a piece shows that what was emitted is void: another call wrote it, or it was text and is now thoughts. */
export function isVoidBy({ call, offset, isThoughts }: TextPiece, told: ToldStep): boolean {
  if (call !== told.call) return told.characters > 0 || told.thoughts > 0 || told.ended === 'failed';
  return isThoughts === true && told.characters > 0 && offset >= loggedOf(told);
}

/** Whether the model went on after calls of tools, before which it said what was emitted. */
export function isLaterTurn({ turn = 0 }: TextPiece, told: ToldStep): boolean {
  return turn > (told.turn ?? 0);
}

/** Returns how many characters of the log of a step's present attempt were emitted, thoughts included. */
export function loggedOf({ logged, characters }: ToldStep): number {
  return logged ?? characters;
}

/** Returns what was not emitted of a step's thoughts and output: all of it if another call wrote them. */
export function restOf(
  { output, thoughts = '', turns = [] }: Step,
  told: ToldStep,
  call: string,
): TextPiece[] {
  const isOther = told.call !== call;
  const known = isOther ? { thoughts: 0, characters: 0, tail: '' } : told;
  // Another call counts as later than everything emitted, whenever it began.
  const at = { call, since: isOther ? `${told.since}~` : told.since, turn: turns.length };
  const offset = isOther ? 0 : loggedOf(told);
  const isContinued = known.characters === 0 && thoughts.slice(0, known.thoughts).endsWith(known.tail);
  const more = isContinued ? thoughts.slice(known.thoughts) : '';
  return [
    ...(more === '' ? [] : [{ ...at, offset, text: more, isThoughts: true as const }]),
    { ...at, offset: offset + more.length, text: (output ?? '').slice(known.characters) },
  ];
}

import { jsonBytes } from '../plan/plan';
import { isRecord } from '../plan/validate';
import { isString, isWhole } from './rules';

/** Longest text, in bytes as JSON, that travels inline through Temporal; longer ones go to the store. */
export const INLINE_BYTES = 4096;

/** Longest inline question: question and answer together must fit a result. Longer ones go to the store. */
export const MAX_INLINE_QUESTION_BYTES = 128 * 1024;

/** Longest text that the store keeps, far beyond any model's output. */
export const MAX_TEXT_BYTES = 32 * 1024 * 1024;

/** Reference to a text in the store by its content address. */
export interface TextRef {
  /** `sha256-<64 hex digits>` of the UTF-8 bytes. */
  readonly ref: string;
  readonly bytes: number;
  readonly preview: string;
}

/** Question, output or answer: the text itself if short, otherwise a reference into the store. */
export type Text = string | TextRef;

export function previewOf(text: Text): string {
  return typeof text === 'string' ? text : `${text.preview}…`;
}

/** Whether a value is a text short enough to travel inline, or a reference as the store returns it. */
export function isText(value: unknown, inlineBytes = INLINE_BYTES): value is Text {
  if (typeof value === 'string') return jsonBytes(value) <= inlineBytes;
  if (!isRecord(value)) return false;
  const { ref, bytes, preview } = value;
  const isShort = (text: unknown): boolean => isString(text) && text.length <= MAX_REFERENCE_CHARACTERS;
  return isShort(ref) && isShort(preview) && isWhole(bytes, 0, MAX_TEXT_BYTES);
}

/** Bound on the characters of a reference or preview, about twice what they have. */
const MAX_REFERENCE_CHARACTERS = 256;

import { jsonBytes } from '../plan/plan';
import { isRecord } from '../plan/validate';

/** The largest text, in bytes as JSON, that travels inline through Temporal; a longer one goes to the store. */
export const INLINE_BYTES = 4096;

/** A longer question lies in the store: with the answer it must fit a result. */
export const MAX_INLINE_QUESTION_BYTES = 128 * 1024;

/** The longest text that the store keeps: far beyond any model's output. */
export const MAX_TEXT_BYTES = 32 * 1024 * 1024;

/** Stands for a text that lies in the store under its content address. */
export interface TextRef {
  /** `sha256-<64 hex digits>` of the UTF-8 bytes. */
  readonly ref: string;
  readonly bytes: number;
  readonly preview: string;
}

/** A question, an output or an answer: itself when short, otherwise a reference into the store. */
export type Text = string | TextRef;

export function previewOf(text: Text): string {
  return typeof text === 'string' ? text : `${text.preview}…`;
}

/** Whether a value is a text that is short enough to travel, or a reference as the store gives it. */
export function isText(value: unknown, inlineBytes = INLINE_BYTES): value is Text {
  if (typeof value === 'string') return jsonBytes(value) <= inlineBytes;
  if (!isRecord(value)) return false;
  const { ref, bytes, preview } = value;
  const isShort = (text: unknown): boolean =>
    typeof text === 'string' && text.length <= MAX_REFERENCE_CHARACTERS;
  return (
    isShort(ref) &&
    isShort(preview) &&
    Number.isSafeInteger(bytes) &&
    Number(bytes) >= 0 &&
    Number(bytes) <= MAX_TEXT_BYTES
  );
}

/** A reference, or a preview, has about half as many. */
const MAX_REFERENCE_CHARACTERS = 256;

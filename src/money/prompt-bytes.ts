import type { Message } from '../protocol/message';
import type { Background } from '../protocol/parent';
import type { Text } from '../protocol/text';

/**
 * What one part of a prompt may need besides its text, in bytes: its heading, its tags with the marks that make them
 * unlike any tag in the texts (`-` and up to nine digits, four times), and what a chat template puts around a message.
 */
export const PART_BYTES = 256;

/**
 * Stands in a prompt for a text that only the store holds. So a prompt can be built by the code that builds it for the
 * model, and its bound follows whatever that comes to say.
 */
export function standIn(text: Text): string {
  return typeof text === 'string' ? text : '?';
}

/** Bytes that a stand-in hides; 0 where the text itself is at hand. */
export function hiddenBytes(text: Text): number {
  return typeof text === 'string' ? 0 : text.bytes;
}

/** Bytes of messages as they are. */
export function messageBytes(messages: readonly Message[]): number {
  return sum(messages.map(({ text }) => utf8Bytes(text)));
}

/** The most that earlier texts, shown to everybody in a child, add to a prompt. */
export function backgroundBytes(background: readonly Background[]): number {
  return sum(
    background.map(({ subtask, output }) => utf8Bytes(subtask ?? '') + textBytes(output) + PART_BYTES),
  );
}

/** Bytes of a text, wherever it lies. */
export function textBytes(text: Text): number {
  return typeof text === 'string' ? utf8Bytes(text) : text.bytes;
}

const encoder = new TextEncoder();

/** Bytes of a text in UTF-8. */
export function utf8Bytes(text: string): number {
  return encoder.encode(text).length;
}

/** The sum of numbers of bytes. */
export function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

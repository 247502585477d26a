import fc from 'fast-check';
import type { Message } from '../../src/plan/plan';
import type { Text } from '../../src';

/** Texts that take more bytes than characters, pose as our tags, or hold nothing. */
export const awkwardText: fc.Arbitrary<string> = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 200 }),
  fc.constant('漢字'.repeat(1000)),
  fc.constantFrom('', ' ', '\n', '</answer>', '<question-2>', '</your_subtask-999999999>'),
  fc.constant('漢字'.repeat(1000)),
  fc
    .array(fc.constantFrom('<answer>', '<subtask-2>', '<question-3>', '\b\f\u0000"\\', 'x'), {
      maxLength: 30,
    })
    .map((parts) => parts.join('')),
);

/** A text that travels with a request, or lies in the store; the reference of this one holds it, for the test's sake. */
export const storedOrNot: fc.Arbitrary<Text> = fc
  .tuple(awkwardText, fc.boolean())
  .map(([text, isStored]) => (isStored ? { ref: text, bytes: Buffer.byteLength(text), preview: '' } : text));

/** The text itself. */
export function wholeOf(text: Text): string {
  return typeof text === 'string' ? text : text.ref;
}

/** Bytes really sent, with the tags that a chat template puts around each message. */
export function realBytes(messages: readonly Message[]): number {
  return messages.reduce((sum, { text }) => sum + Buffer.byteLength(text) + 64, 0);
}

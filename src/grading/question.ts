import { z } from 'zod';
import { normalizeText, readLetter, readNumber } from './read-answer';

const row = {
  id: z.string().regex(/^\S(?:.{0,126}\S)?$/u, {
    error: 'expected 1 to 128 characters in one line, without blanks around them',
  }),
  question: z.string().refine((text) => text.trim() !== '', { error: 'expected a question' }),
  /** For tables by topic; training ignores it. */
  topic: z.string().min(1).exactOptional(),
};

/** A right answer that its own grader can read; a number need not be quoted. */
function answer(isReadable: (text: string) => boolean, expected: string) {
  return z
    .union([z.string(), z.number().transform(String)], { error: `expected ${expected}` })
    .refine(isReadable, { error: `expected ${expected}` });
}

/**
 * One line of a set of questions. A right answer that its own grader cannot read is refused here, before anything is
 * spent on the question.
 */
export const questionSchema = z.discriminatedUnion('grader', [
  z.strictObject({
    ...row,
    /** The same text, but for case, blanks, typesetting and a full stop at its end. */
    grader: z.literal('exact'),
    answer: answer((text) => normalizeText(text) !== '', 'the right answer, as text or number'),
    /** `a` is not `A`. */
    caseSensitive: z.boolean().exactOptional(),
  }),
  z.strictObject({
    ...row,
    /** The same number, however it is written. */
    grader: z.literal('number'),
    answer: answer((text) => readNumber(text) !== null, 'a number, or text that ends with one'),
    /** The largest difference, as a share of the right answer; without it none. */
    tolerance: z.number().min(0).max(1).exactOptional(),
  }),
  z.strictObject({
    ...row,
    /** The same letter of a multiple choice. */
    grader: z.literal('choice'),
    answer: answer((text) => readLetter(text) !== null, 'a letter from A to J'),
    /** Texts of A, B and so on, for answers that repeat an option instead of its letter. */
    options: z.array(z.string().min(1)).min(2).max(10).readonly().exactOptional(),
  }),
]);

/** A question of a set that was checked. */
export type Question = z.output<typeof questionSchema>;

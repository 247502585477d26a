import { z } from 'zod';
import { conversationTurnSchema } from '../protocol/input';
import { isJson } from './code/compare-output';
import { isFreeForm } from './free-form';
import { isMathematics, MOST_CHARACTERS } from './mathematics/normalize';
import { normalizeText } from './read-answer';
import { readRightChoice } from './read-choice';
import { readNumber } from './read-number';

/** The turns before a question. */
export const conversationSchema = z.array(conversationTurnSchema).min(1).readonly();

const row = z.strictObject({
  id: z.string().regex(/^\S(?:.{0,126}\S)?$/u, {
    error: 'expected 1 to 128 characters in one line, without blanks around them',
  }),
  question: z.string().refine((text) => text.trim() !== '', { error: 'expected a question' }),
  /** Turns before the question; a row of a file has `messages` instead of both. */
  conversation: conversationSchema.exactOptional(),
  // Used for tables and splits; training ignores them.
  topic: z.string().min(1).exactOptional(),
  level: z.string().min(1).exactOptional(),
  source: z.string().min(1).exactOptional(),
  /** Whether only text in an `<answer>` tag counts as an answer; the question then says so. */
  tagged: z.boolean().exactOptional(),
  /** Date of the question's first publication, for questions that a model may have seen. */
  date: z.iso.date().exactOptional(),
});

/** Returns the schema of a right answer that its own grader can read; a number need not be quoted. */
function answer(isReadable: (text: string) => boolean, expected: string) {
  return z
    .union([z.string(), z.number().transform(String)], { error: `expected ${expected}` })
    .refine(isReadable, { error: `expected ${expected}` });
}

/** Largest difference, relative to the right answer; none is allowed by default. */
const tolerance = z.number().min(0).max(1).exactOptional();

const CHOICE = 'a letter from A to J, or the text of one of the options';

/** One question of a set. A right answer that its own grader cannot read is refused before anything is spent. */
export const questionSchema = z.discriminatedUnion('grader', [
  row.extend({
    /** Compares texts, ignoring case, blanks, typesetting and a final full stop. */
    grader: z.literal('exact'),
    answer: answer((text) => normalizeText(text) !== '', 'the right answer, as text or number'),
    caseSensitive: z.boolean().exactOptional(),
  }),
  row.extend({
    grader: z.literal('number'),
    answer: answer((text) => readNumber(text) !== null, 'a number, or text that ends with one'),
    tolerance,
    /** Whether only a whole number in a box, `\boxed{204}`, counts as an answer, as in AIME. */
    boxed: z.boolean().exactOptional(),
  }),
  row
    .extend({
      /** Compares multiple-choice options by their letter, their number from 1, or their text. */
      grader: z.literal('choice'),
      answer: answer((text) => text !== '', CHOICE),
      /** Texts of A, B and so on, for answers that repeat an option instead of its letter. */
      options: z.array(z.string().min(1)).min(2).max(10).readonly().exactOptional(),
    })
    // A number is refused here, since some sets count options from 0.
    .refine(({ answer: right, options }) => readRightChoice(right, options) !== null, {
      error: `expected ${CHOICE}`,
      path: ['answer'],
    }),
  row.extend({
    /** A quantity with its unit, per cent sign or currency, a list in any order, or the same text. */
    grader: z.literal('freeform'),
    answer: answer(isFreeForm, 'a quantity, a list or a text'),
    /** Applies only to a quantity. */
    tolerance,
    /** Whether the configured `verifier` model is asked if the rules say no. */
    verify: z.boolean().exactOptional(),
  }),
  row.extend({
    grader: z.literal('math'),
    answer: answer(isMathematics, `mathematics of at most ${MOST_CHARACTERS} characters`),
  }),
  row
    .extend({
      grader: z.literal('code'),
      /** Name of the function, or of the method of a class `Solution`, to call; without one the answer is a program. */
      function: z
        .string()
        .regex(/^[A-Za-z_]\w*$/, { error: 'expected the name of a function' })
        .exactOptional(),
      /** Input and output of a program; for a function its arguments, one JSON value a line, and its return value. */
      tests: z
        .array(z.strictObject({ input: z.string(), output: z.string() }))
        .min(1, { error: 'expected at least one test' })
        .readonly(),
      /** CPU time of a test; default: 6. */
      seconds: z.int().min(1).max(60).exactOptional(),
      memoryMb: z.int().min(64).max(16_384).exactOptional(),
    })
    .superRefine(({ function: name, tests }, context) => {
      for (const [index, { input, output }] of name === undefined ? [] : tests.entries()) {
        if ([...input.split('\n').filter((line) => line.trim() !== ''), output].every(isJson)) continue;
        const message = 'expected JSON: an argument of the function a line, and as output what it returns';
        context.addIssue({ code: 'custom', path: ['tests', index], message });
      }
    }),
  row.extend({
    /** Any Temporal activity that takes a `CustomGradeRequest` and returns a verdict. */
    grader: z.literal('custom'),
    activity: z.string().min(1),
    taskQueue: z.string().min(1),
    answer: answer((text) => text !== '', 'the right answer, as text or number'),
    /** Seconds for one answer, all attempts together; default: 10 minutes. */
    timeoutSeconds: z.int().min(1).max(3600).exactOptional(),
  }),
]);

export type Question = z.output<typeof questionSchema>;

/** The part of a question that its grader needs. */
export type GraderQuestion<Grader extends Question['grader']> = Omit<
  Extract<Question, { readonly grader: Grader }>,
  'id' | 'question' | 'conversation' | 'topic' | 'level' | 'source' | 'date'
>;

export type AskedWhole = Pick<Question, 'question' | 'conversation'>;

/** Returns the turns and the question as one text, for comparison and grading. */
export function wholeQuestion({ question, conversation = [] }: AskedWhole): string {
  return [...conversation.map(({ role, content }) => `${role}: ${content}`), question].join('\n\n');
}

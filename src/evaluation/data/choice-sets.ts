import { z } from 'zod';
import { orJson } from '../../grading/readers';
import { letterOf, showOptions } from './answerable';
import { defineSet, idFrom, inHashOrder, inTags, nonEmptyText, textOrNumber } from './format';

export const mmlu = defineSet({
  name: 'MMLU',
  paper: inTags('the letter of the right option, and nothing else,'),
  mapping: { question: 'question', answer: 'answer', options: 'choices', topic: 'subject' },
  schema: z.object({
    question: nonEmptyText,
    subject: z.string(),
    choices: orJson(z.array(textOrNumber, { error: 'expected a list of options' }).min(2).max(10)),
    answer: z.union([z.int().nonnegative(), z.string().regex(/^\d$/).transform(Number)], {
      error: 'expected the number of an option, from 0',
    }),
  }),
  draft: ({ question, choices, answer }) => {
    if (answer >= choices.length) {
      throw new Error(`answer is ${answer}: expected the number of one of ${choices.length} options, from 0`);
    }
    return { id: idFrom('mmlu', question, ...choices), ...toChoice(question, choices, answer) };
  },
});

const choices = z.object({
  'Correct Answer': nonEmptyText,
  'Incorrect Answer 1': nonEmptyText,
  'Incorrect Answer 2': nonEmptyText,
  'Incorrect Answer 3': nonEmptyText,
});

/** The right answer comes first in each row, so the options are shuffled by the row's id. */
export const gpqa = defineSet({
  name: 'GPQA',
  mapping: { id: 'Record ID', question: 'Question', answer: 'Correct Answer', topic: 'High-level domain' },
  schema: z.object({
    'Record ID': nonEmptyText,
    Question: nonEmptyText,
    ...choices.shape,
    'High-level domain': z.string().optional(),
  }),
  draft: (row) => {
    const names = inHashOrder(choices.keyof().options, (_, index) => `${row['Record ID']}\n${index}`);
    const options = names.map((name) => row[name].trim());
    return toChoice(row.Question, options, names.indexOf('Correct Answer'));
  },
});

/** Ten options or fewer, and the right one by its letter and its number. */
export const mmluPro = defineSet({
  name: 'MMLU-Pro',
  mapping: { question: 'question', answer: 'answer_index', options: 'options', topic: 'category' },
  schema: z.object({
    question: nonEmptyText,
    options: orJson(z.array(textOrNumber, { error: 'expected a list of options' }).min(2).max(10)),
    answer: z.string().regex(/^[A-J]$/, { error: 'expected a letter from A to J' }),
    answer_index: z.coerce.number().int().nonnegative(),
    question_id: textOrNumber.optional(),
    category: z.string().optional(),
  }),
  draft: ({ question, options, answer, answer_index: right, question_id: id }) => {
    if (letterOf(right) !== answer || right >= options.length) {
      throw new Error(
        `answer is ${answer}, and answer_index ${right} of ${options.length}: they contradict each other`,
      );
    }
    const named = id === undefined ? idFrom('mmlu-pro', question, ...options) : `mmlu-pro-${id}`;
    return { id: named, ...toChoice(question, options, right) };
  },
});

/** Asks a question with its options; an answer may quote an option only if all options differ. */
function toChoice(question: string, options: readonly string[], right: number): Record<string, unknown> {
  const isClear = options.every((option, index) => option !== '' && options.indexOf(option) === index);
  return {
    question: showOptions(question, options),
    grader: 'choice',
    answer: letterOf(right),
    options: isClear ? options : null,
  };
}

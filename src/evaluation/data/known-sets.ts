import { createHash } from 'node:crypto';
import { z } from 'zod';
import { isMathematics } from '../../grading/mathematics/normalize';
import { finalAnswerOf } from '../../grading/read-answer';
import { readRightChoice } from '../../grading/read-choice';
import { defineSet, idFrom, orJson, text, textOrNumber } from './format';

/** `Level 3` or `3`; MATH has a few questions without a level. */
const level = textOrNumber.transform((value) => /^(?:Level )?(\d)$/.exec(value)?.[1]);

/** Hendrycks' MATH, whose right answers stand in its solutions alone. */
export const math = defineSet({
  name: 'MATH',
  mapping: { question: 'problem', answer: 'solution', topic: 'type', level: 'level' },
  schema: z.object({ problem: text, level, type: text, solution: text }),
  draft: ({ problem, solution }) => {
    const boxed = solution.replaceAll('\\fbox', '\\boxed');
    if (!boxed.includes('\\boxed'))
      throw new Error('solution holds no \\boxed{…}, which MATH has its answers in');
    return { id: idFrom('math', problem), grader: 'math', answer: finalAnswerOf(boxed) };
  },
});

export const math500 = defineSet({
  name: 'MATH-500',
  mapping: { id: 'unique_id', question: 'problem', answer: 'answer', topic: 'subject', level: 'level' },
  schema: z.object({ problem: text, answer: text, subject: text, level, unique_id: text }),
  draft: () => ({ grader: 'math' }),
});

const aimeAnswer = z
  .union([z.number(), z.string()])
  .transform(Number)
  .refine((value) => Number.isInteger(value) && value >= 0 && value <= 999, {
    error: 'expected a whole number from 0 to 999, as AIME has',
  })
  .transform(String);

/** Any year of it. */
export const aime = defineSet({
  name: 'AIME',
  mapping: { id: 'id', question: 'problem', answer: 'answer', topic: 'year' },
  schema: z.object({
    ...{ problem: text, answer: aimeAnswer },
    ...{ id: textOrNumber.optional(), year: textOrNumber.optional() },
  }),
  draft: ({ problem, id, year }) => ({
    id: id === undefined ? idFrom('aime', problem) : ['aime', year ?? [], id].flat().join('-'),
    grader: 'number',
  }),
});

export const mmlu = defineSet({
  name: 'MMLU',
  mapping: { question: 'question', answer: 'answer', options: 'choices', topic: 'subject' },
  schema: z.object({
    question: text,
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

const WRONG = ['Incorrect Answer 1', 'Incorrect Answer 2', 'Incorrect Answer 3'] as const;

/** Its right answer comes first in each row, so the row's id decides the order of its options. */
export const gpqa = defineSet({
  name: 'GPQA',
  mapping: { id: 'Record ID', question: 'Question', answer: 'Correct Answer', topic: 'High-level domain' },
  schema: z.object({
    ...{ 'Record ID': text, Question: text, 'Correct Answer': text },
    ...{ 'Incorrect Answer 1': text, 'Incorrect Answer 2': text, 'Incorrect Answer 3': text },
    'High-level domain': z.string().optional(),
  }),
  draft: (row) => {
    const rankOf = (index: number): string =>
      createHash('sha256').update(`${row['Record ID']}\n${index}`).digest('hex');
    const options = [row['Correct Answer'], ...WRONG.map((name) => row[name])]
      .map((option, index) => ({ option: option.trim(), isRight: index === 0, rank: rankOf(index) }))
      .sort((one, other) => (one.rank < other.rank ? -1 : 1));
    const right = options.findIndex(({ isRight }) => isRight);
    return toChoice(
      row.Question,
      options.map(({ option }) => option),
      right,
    );
  },
});

/** A question with its options below it; an answer may repeat an option only where no other says the same. */
function toChoice(question: string, options: readonly string[], right: number): Record<string, unknown> {
  const letterOf = (index: number): string => String.fromCharCode(65 + index);
  const lines = options.map((option, index) => `${letterOf(index)}. ${option}`);
  const isClear = options.every((option, index) => option !== '' && options.indexOf(option) === index);
  return {
    question: [question.trim(), '', ...lines].join('\n'),
    grader: 'choice',
    answer: letterOf(right),
    options: isClear ? options : null,
  };
}

/** Longer answers cannot be judged by rule, and are left out, as in the paper. */
const MAX_CHARACTERS = 30;
const MATHEMATICS = /^(?:Expression|Fraction|Matrix)$/i;

const message = z.object({ role: z.string(), content: z.string() });
const extra = z.object({
  id: textOrNumber.nullish(),
  answer_type: z.string().nullish(),
  difficulty: textOrNumber.nullish(),
});

export const rlpr = defineSet({
  name: 'RLPR',
  mapping: {
    id: 'extra_info',
    question: 'prompt',
    answer: 'reward_model',
    topic: 'ability',
    level: 'extra_info',
  },
  schema: z.object({
    data_source: z.string(),
    prompt: orJson(z.array(message, { error: 'expected a list of messages' })),
    reward_model: orJson(z.object({ ground_truth: textOrNumber })),
    ability: z.string().nullish(),
    extra_info: orJson(extra).optional(),
  }),
  draft: ({ prompt, reward_model: { ground_truth: answer }, extra_info: extra = {} }) => {
    if (answer.length > MAX_CHARACTERS) {
      return { leftOut: `the right answer has more than ${MAX_CHARACTERS} characters` };
    }
    const question = prompt.findLast(({ role }) => role === 'user')?.content ?? '';
    return {
      id: extra.id ? `rlpr-${extra.id}` : idFrom('rlpr', question),
      question,
      grader: graderFor(answer, extra.answer_type ?? ''),
      answer,
      level: extra.difficulty,
    };
  },
});

function graderFor(answer: string, type: string): 'math' | 'choice' | 'freeform' {
  if (/^multiple choice$/i.test(type) && readRightChoice(answer) !== null) return 'choice';
  return MATHEMATICS.test(type) && isMathematics(answer) ? 'math' : 'freeform';
}

import { z } from 'zod';
import { finalAnswerOf } from '../../../grading/read-answer';
import { type DataFormat, defineFormat, nameOf, text } from '../format';

/** Hendrycks' MATH, whose right answers stand in its solutions alone. */
export const math = defineFormat({
  name: 'MATH',
  mapping: {
    id: 'a digest of problem',
    question: 'problem',
    answer: 'the last \\boxed{…} of solution',
    topic: 'type',
    level: 'level',
  },
  schema: z.object({ problem: text, level: z.string(), type: text, solution: text }),
  draft: ({ problem, level, type, solution }) => ({
    id: nameOf('math', problem),
    source: 'MATH',
    question: problem,
    grader: 'math',
    answer: boxedIn(solution),
    topic: type,
    ...readLevel(level),
  }),
});

export const math500 = defineFormat({
  name: 'MATH-500',
  mapping: { id: 'unique_id', question: 'problem', answer: 'answer', topic: 'subject', level: 'level' },
  schema: z.object({
    problem: text,
    answer: text,
    subject: text,
    level: z.union([z.number(), z.string()]),
    unique_id: text,
  }),
  draft: ({ problem, answer, subject, level, unique_id: id }) => ({
    id,
    source: 'MATH-500',
    question: problem,
    grader: 'math',
    answer,
    topic: subject,
    ...readLevel(String(level)),
  }),
});

const wholeNumber = z
  .union([z.number(), z.string()])
  .transform((value) => Number(value))
  .refine((value) => Number.isInteger(value) && value >= 0 && value <= 999, {
    error: 'expected a whole number from 0 to 999, as AIME has',
  });
const id = z.union([z.string(), z.number()]).transform(String).optional();

/** Any year of it: the exports call the same fields by names of their own. */
export const aime = defineFormat({
  name: 'AIME',
  mapping: { id: 'id, else a digest of problem', question: 'problem', answer: 'answer', topic: 'year' },
  schema: z.object({ problem: text, answer: wholeNumber, id, year: id }),
  draft: ({ problem, answer, id, year }) => ({
    id: id === undefined ? nameOf('aime', problem) : `aime-${year === undefined ? '' : `${year}-`}${id}`,
    source: 'AIME',
    question: problem,
    grader: 'number',
    answer: String(answer),
    ...(year !== undefined && { topic: year }),
  }),
});

/** The same with its fields in capitals, as some exports of the years before 2025 have them. */
export const aimeInCapitals: DataFormat = {
  ...aime,
  fields: ['Problem', 'Answer'],
  map: (record, place) =>
    aime.map(
      Object.fromEntries(Object.entries(record).map(([key, value]) => [key.toLowerCase(), value])),
      place,
    ),
};

function boxedIn(solution: string): string {
  const boxed = solution.replaceAll('\\fbox', '\\boxed');
  if (!boxed.includes('\\boxed'))
    throw new Error('solution holds no \\boxed{…}, which MATH has its answers in');
  return finalAnswerOf(boxed);
}

/** `Level 3` or `3`; MATH has a few of no level. */
function readLevel(level: string): { level?: string } {
  const digit = /^(?:Level )?(\d)$/.exec(level)?.[1];
  return digit === undefined ? {} : { level: digit };
}

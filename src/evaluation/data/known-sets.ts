import { z } from 'zod';
import {
  finalAnswerOf,
  isMathematics,
  orJson,
  readNumber,
  readRightChoice,
  toDouble,
} from '../../grading/readers';
import { gpqa, mmlu, mmluPro } from './choice-sets';
import { bigCodeBench, liveCodeBench } from './code-sets';
import { type DataFormat, defineSet, idFrom, inTags, nonEmptyText, textOrNumber } from './format';

const maybeNumber = textOrNumber.optional();
/** `Level 3` or `3`; MATH has a few questions without a level. */
const level = textOrNumber.transform((value) => /^(?:Level )?(\d)$/.exec(value)?.[1]);

const A_RESULT = 'the final result alone, in LaTeX,';

/** Hendrycks' MATH, whose right answers are only in its solutions. */
const math = defineSet({
  name: 'MATH',
  paper: inTags(A_RESULT),
  mapping: { question: 'problem', answer: 'solution', topic: 'type', level: 'level' },
  schema: z.object({ problem: nonEmptyText, level, type: nonEmptyText, solution: nonEmptyText }),
  draft: ({ problem, solution }) => {
    const boxed = solution.replaceAll('\\fbox', '\\boxed');
    if (!boxed.includes('\\boxed'))
      throw new Error('MATH answers must be in \\boxed{…}; this solution has none');
    return { id: idFrom('math', problem), grader: 'math', answer: finalAnswerOf(boxed) };
  },
});

const math500 = defineSet({
  name: 'MATH-500',
  paper: inTags(A_RESULT),
  mapping: { id: 'unique_id', question: 'problem', answer: 'answer', topic: 'subject', level: 'level' },
  schema: z.object({
    problem: nonEmptyText,
    answer: nonEmptyText,
    subject: nonEmptyText,
    level,
    unique_id: nonEmptyText,
  }),
  draft: () => ({ grader: 'math' }),
});

const aimeAnswer = z
  .union([z.number(), z.string()])
  .transform(Number)
  .refine((value) => Number.isInteger(value) && value >= 0 && value <= 999, {
    error: 'expected a whole number from 0 to 999, as AIME has',
  })
  .transform(String);

/** Tells the model where the grader looks for the answer. */
const IN_A_BOX = 'Give the final answer, a whole number from 0 to 999, in \\boxed{}.';

const aime = defineSet({
  name: 'AIME',
  mapping: { id: 'id', question: 'problem', answer: 'answer', topic: 'year' },
  schema: z.object({ problem: nonEmptyText, answer: aimeAnswer, id: maybeNumber, year: maybeNumber }),
  // Other contests have the same columns, and answers of other kinds.
  isLike: ({ answer, ...others }) =>
    aimeAnswer.safeParse(answer).success &&
    ['id', 'year', 'url', 'problem_idx'].some((each) => each in others),
  draft: ({ problem, id, year = [] }) => ({
    id: id === undefined ? idFrom('aime', problem) : ['aime', year, id].flat().join('-'),
    question: `${problem.trimEnd()}\n\n${IN_A_BOX}`,
    grader: 'number',
    boxed: true,
  }),
});

/** Longer answers cannot be judged by rule and are left out, as in the paper. */
const MAX_CHARACTERS = 30;

const message = z.object({ role: z.string(), content: z.string() });
const extraInfo = z.object({
  id: textOrNumber.nullish(),
  answer_type: z.string().nullish(),
  difficulty: textOrNumber.nullish(),
});

const rlpr = defineSet({
  name: 'RLPR',
  paper: inTags('the answer alone, as short as it can be and with its unit,'),
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
    extra_info: orJson(extraInfo).optional(),
  }),
  draft: ({ prompt, reward_model: { ground_truth: answer }, extra_info: extra = {} }) => {
    if (answer.length > MAX_CHARACTERS) {
      return { leftOut: `the right answer has more than ${MAX_CHARACTERS} characters` };
    }
    const question = prompt.findLast(({ role }) => role === 'user')?.content ?? '';
    const id = extra.id ? `rlpr-${extra.id}` : idFrom('rlpr', question);
    const grader = graderFor(answer, extra.answer_type ?? '');
    const tolerance = grader === 'freeform' ? toleranceFor(answer) : null;
    return { id, question, grader, answer, tolerance, level: extra.difficulty };
  },
});

/** Returns the relative tolerance of the paper's grader: 10⁻³, or 10⁻⁶ below 1; null if there is no number. */
function toleranceFor(answer: string): number | null {
  const found = readNumber(answer);
  if (found === null) return null;
  return Math.abs(toDouble(found.number)) < 1 ? 1e-6 : 1e-3;
}

function graderFor(answer: string, type: string): 'math' | 'choice' | 'freeform' {
  if (/^multiple choice$/i.test(type) && readRightChoice(answer) !== null) return 'choice';
  const isMath = /^(?:Expression|Fraction|Matrix)$/i.test(type) && isMathematics(answer);
  return isMath && !isNumber(answer) ? 'math' : 'freeform';
}

/** Whether an answer is only a number, fractions included, so that it has a tolerance. */
function isNumber(answer: string): boolean {
  const { before, behind } = readNumber(answer) ?? { before: answer, behind: '' };
  return /^[\s$]*$/.test(before + behind);
}

const FINAL_LINE = /\n#### (.+)$/;

/** Right answers stand behind their working, in a last line that begins with `####`. */
const gsm8k = defineSet({
  name: 'GSM8K',
  mapping: { question: 'question', answer: 'answer' },
  schema: z.object({ question: nonEmptyText, answer: nonEmptyText }),
  isLike: ({ answer }) => typeof answer === 'string' && FINAL_LINE.test(`\n${answer.trimEnd()}`),
  draft: ({ question, answer }) => {
    const right = FINAL_LINE.exec(`\n${answer.trimEnd()}`)?.[1];
    if (right === undefined) throw new Error('answer has no last line that begins with ####, as GSM8K has');
    return { id: idFrom('gsm8k', question), grader: 'number', answer: right };
  },
});

/** Short facts. Its metadata is a dictionary in Python notation. */
const simpleQa = defineSet({
  name: 'SimpleQA',
  mapping: { question: 'problem', answer: 'answer' },
  schema: z.object({ problem: nonEmptyText, answer: textOrNumber, metadata: z.string() }),
  isLike: ({ metadata }) => String(metadata).includes("'answer_type'"),
  draft: ({ problem, metadata }) => ({
    id: idFrom('simpleqa', problem),
    grader: 'freeform',
    verify: true,
    topic: /'topic': '([^']+)'/.exec(metadata)?.[1],
  }),
});

/** Formats in order of detection: one that has all fields of another comes before it. */
export const SETS: readonly DataFormat[] = [
  ...[gpqa, rlpr, liveCodeBench, bigCodeBench],
  ...[mmluPro, mmlu, math500, math, simpleQa, gsm8k, aime],
];

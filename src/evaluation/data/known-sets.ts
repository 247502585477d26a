import { inflateSync } from 'node:zlib';
import { z } from 'zod';
import { isMathematics } from '../../grading/mathematics/normalize';
import { orJson } from '../../grading/or-json';
import { toDouble } from '../../grading/rational';
import { finalAnswerOf } from '../../grading/read-answer';
import { readRightChoice } from '../../grading/read-choice';
import { readNumber } from '../../grading/read-number';
import { reasonOf } from '../../errors';
import { type DataFormat, defineSet, idFrom, inHashOrder, inTags } from './format';

const text = z.string({ error: 'expected a text' }).refine((value) => value.trim() !== '', {
  error: 'expected a text that is not empty',
});
const textOrNumber = z.union([z.string(), z.number().transform(String)]);
const maybeNumber = textOrNumber.optional();
const maybeText = z.string().optional();
/** `Level 3` or `3`; MATH has a few questions without a level. */
const level = textOrNumber.transform((value) => /^(?:Level )?(\d)$/.exec(value)?.[1]);

const A_RESULT = 'the final result alone, in LaTeX,';

/** Hendrycks' MATH, whose right answers are only in its solutions. */
const math = defineSet({
  name: 'MATH',
  paper: inTags(A_RESULT),
  mapping: { question: 'problem', answer: 'solution', topic: 'type', level: 'level' },
  schema: z.object({ problem: text, level, type: text, solution: text }),
  draft: ({ problem, solution }) => {
    const boxed = solution.replaceAll('\\fbox', '\\boxed');
    if (!boxed.includes('\\boxed'))
      throw new Error('solution holds no \\boxed{…}, which MATH has its answers in');
    return { id: idFrom('math', problem), grader: 'math', answer: finalAnswerOf(boxed) };
  },
});

const math500 = defineSet({
  name: 'MATH-500',
  paper: inTags(A_RESULT),
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

/** Tells the model where the grader looks for the answer. */
const IN_A_BOX = 'Give the final answer, a whole number from 0 to 999, in \\boxed{}.';

const aime = defineSet({
  name: 'AIME',
  mapping: { id: 'id', question: 'problem', answer: 'answer', topic: 'year' },
  schema: z.object({ problem: text, answer: aimeAnswer, id: maybeNumber, year: maybeNumber }),
  draft: ({ problem, id, year = [] }) => ({
    id: id === undefined ? idFrom('aime', problem) : ['aime', year, id].flat().join('-'),
    question: `${problem.trimEnd()}\n\n${IN_A_BOX}`,
    grader: 'number',
    boxed: true,
  }),
});

const mmlu = defineSet({
  name: 'MMLU',
  paper: inTags('the letter of the right option, and nothing else,'),
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

const choices = z.object({
  'Correct Answer': text,
  'Incorrect Answer 1': text,
  'Incorrect Answer 2': text,
  'Incorrect Answer 3': text,
});

/** The right answer comes first in each row, so the options are shuffled by the row's id. */
const gpqa = defineSet({
  name: 'GPQA',
  mapping: { id: 'Record ID', question: 'Question', answer: 'Correct Answer', topic: 'High-level domain' },
  schema: z.object({ 'Record ID': text, Question: text, ...choices.shape, 'High-level domain': maybeText }),
  draft: (row) => {
    const names = inHashOrder(choices.keyof().options, (_, index) => `${row['Record ID']}\n${index}`);
    const options = names.map((name) => row[name].trim());
    return toChoice(row.Question, options, names.indexOf('Correct Answer'));
  },
});

/** Adds the options below a question; an answer may quote an option only if all options differ. */
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

const testCases = z.array(z.object({ input: z.string(), output: z.string() }), {
  error: 'expected a list of tests',
});

const liveCodeBench = defineSet({
  name: 'LiveCodeBench',
  paper: inTags('the whole code in a block of code'),
  mapping: {
    id: 'question_id',
    question: 'question_content',
    tests: 'public_test_cases',
    function: 'metadata',
    topic: 'platform',
    level: 'difficulty',
    date: 'contest_date',
  },
  schema: z.object({
    question_content: text,
    question_id: text,
    public_test_cases: orJson(testCases),
    private_test_cases: z.string(),
    starter_code: z.string().nullish(),
    metadata: orJson(z.object({ func_name: z.string().nullish() })).optional(),
    platform: maybeText,
    difficulty: maybeText,
    contest_date: maybeText,
  }),
  draft: (row) => ({
    question: `${row.question_content.trim()}\n\n${taskFor(row.starter_code ?? '')}`,
    grader: 'code',
    function: row.metadata?.func_name,
    tests: [...row.public_test_cases, ...readHidden(row.private_test_cases)],
    date: /^\d{4}-\d{2}-\d{2}/.exec(row.contest_date ?? '')?.[0],
  }),
});

/** Kept short, since text that many questions share makes them look like copies. */
function taskFor(starter: string): string {
  if (starter.trim() === '')
    return 'Write a Python program for standard input and output, in a block of code.';
  return `Complete this Python code, in a block of code:\n\n\`\`\`python\n${starter.trimEnd()}\n\`\`\``;
}

const MAX_BYTES = 512 * 1024 * 1024;

/** Reads tests as JSON, or as JSON text that is pickled, compressed by zlib and encoded in base64. */
function readHidden(packed: string): z.output<typeof testCases> {
  try {
    const json = packed.trimStart().startsWith('[')
      ? packed
      : unpickleText(inflateSync(Buffer.from(packed, 'base64'), { maxOutputLength: MAX_BYTES }));
    return testCases.parse(JSON.parse(json));
  } catch (error) {
    const reason = error instanceof z.ZodError ? 'expected a list of tests' : reasonOf(error);
    throw new Error(`private_test_cases cannot be read: ${reason}`, { cause: error });
  }
}

/** Opcodes of Python's pickle protocols 2 to 5 that push a string, with the bytes of its length field. */
const TEXTS: Readonly<Record<number, 1 | 4 | 8>> = { 0x8c: 1, 0x58: 4, 0x8d: 8 };
const [PROTOCOL, FRAME] = [0x80, 0x95];
const MOST_BEHIND = 6;

/** Reads the only string in a Python pickle. A pickle is a program: none of it is executed. */
export function unpickleText(pickle: Buffer): string {
  const at = pickle[2] === FRAME ? 11 : 2;
  const width = TEXTS[pickle[at] ?? 0];
  if (pickle[0] !== PROTOCOL || width === undefined) throw new Error('this is no pickled text');
  const start = at + 1 + width;
  if (start > pickle.length) throw new Error('this pickle is cut off');
  const length = width === 8 ? Number(pickle.readBigUInt64LE(at + 1)) : pickle.readUIntLE(at + 1, width);
  // After the string come at most one memo opcode, and STOP.
  const behind = pickle.length - start - length;
  if (behind < 1) throw new Error('this pickle is cut off');
  if (behind > MOST_BEHIND) throw new Error('this is no pickled text alone');
  // Fatal, since Python's `surrogatepass` may write invalid UTF-8.
  const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  return utf8.decode(pickle.subarray(start, start + length));
}

/** The original set holds a list in Python notation. */
const pythonList = z
  .string()
  .transform((list) => Array.from(list.matchAll(/'([^']+)'/g), ([, name = '']) => name));

/** Its tests need a hundred packages, so a custom grader judges it. */
const bigCodeBench = defineSet({
  name: 'BigCodeBench',
  paper: {
    prompt: 'its field complete_prompt',
    ask: (asked, { complete_prompt: question }) => ({ ...asked, question: String(question) }),
  },
  mapping: { id: 'task_id', question: 'instruct_prompt', answer: 'test', topic: 'libs' },
  schema: z.object({
    task_id: text,
    instruct_prompt: text,
    complete_prompt: text,
    code_prompt: z.string(),
    test: text,
    entry_point: text,
    libs: z.union([pythonList, z.array(z.string())]).default([]),
  }),
  draft: ({ test, entry_point, code_prompt, libs }) => ({
    grader: 'custom',
    activity: 'bigCodeBench',
    taskQueue: 'big-code-bench',
    answer: JSON.stringify({ test, entry_point, code_prompt, libs }),
    topic: libs[0],
  }),
});

/** Formats in order of detection: one that has all fields of another comes before it. */
export const SETS: readonly DataFormat[] = [
  ...[gpqa, rlpr, liveCodeBench, bigCodeBench],
  ...[mmlu, math500, math, aime],
];

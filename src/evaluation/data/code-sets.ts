import { inflateSync } from 'node:zlib';
import { z } from 'zod';
import { reasonOf } from '../../errors';
import { orJson } from '../../grading/readers';
import { defineSet, inTags, nonEmptyText } from './format';

const testCases = z.array(z.object({ input: z.string(), output: z.string() }), {
  error: 'expected a list of tests',
});

export const liveCodeBench = defineSet({
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
    question_content: nonEmptyText,
    question_id: nonEmptyText,
    public_test_cases: orJson(testCases),
    private_test_cases: z.string(),
    starter_code: z.string().nullish(),
    metadata: orJson(z.object({ func_name: z.string().nullish() })).optional(),
    platform: z.string().optional(),
    difficulty: z.string().optional(),
    contest_date: z.string().optional(),
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
export const bigCodeBench = defineSet({
  name: 'BigCodeBench',
  paper: {
    prompt: 'its field complete_prompt',
    ask: (asked, { complete_prompt: question }) => ({ ...asked, question: String(question) }),
  },
  mapping: { id: 'task_id', question: 'instruct_prompt', answer: 'test', topic: 'libs' },
  schema: z.object({
    task_id: nonEmptyText,
    instruct_prompt: nonEmptyText,
    complete_prompt: nonEmptyText,
    code_prompt: z.string(),
    test: nonEmptyText,
    entry_point: nonEmptyText,
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

import { inflateSync } from 'node:zlib';
import { z } from 'zod';
import { reasonOf } from '../../errors';
import { defineSet, orJson, text } from './format';

const testCases = z.array(z.object({ input: z.string(), output: z.string() }), {
  error: 'expected a list of tests',
});

/** Any release; dates say which questions are new to a model. */
export const liveCodeBench = defineSet({
  name: 'LiveCodeBench',
  mapping: {
    ...{ id: 'question_id', question: 'question_content', tests: 'public_test_cases', function: 'metadata' },
    ...{ topic: 'platform', level: 'difficulty', date: 'contest_date' },
  },
  schema: z.object({
    question_content: text,
    question_id: text,
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

/** In few words: what many questions have in common makes them look alike. */
function taskFor(starter: string): string {
  if (starter.trim() === '')
    return 'Write a Python program for standard input and output, in a block of code.';
  return `Complete this Python code, in a block of code:\n\n\`\`\`python\n${starter.trimEnd()}\n\`\`\``;
}

/** The tests of one question, unpacked. */
const MAX_BYTES = 512 * 1024 * 1024;

/** Tests as JSON, or as that text pickled, packed by zlib and written in base64. */
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

/** Instructions of Python's protocols 2 to 5 that make a text, and how many bytes say its length. */
const TEXTS: Readonly<Record<number, 1 | 4 | 8>> = { 0x8c: 1, 0x58: 4, 0x8d: 8 };
const [PROTOCOL, FRAME] = [0x80, 0x95];
const MOST_BEHIND = 6;

/**
 * Reads the one text that a pickle of Python holds. A pickle is a program: nothing of it is executed.
 *
 * @throws Error where it holds anything else
 */
export function unpickleText(pickle: Buffer): string {
  const at = pickle[2] === FRAME ? 11 : 2;
  const width = TEXTS[pickle[at] ?? 0];
  if (pickle[0] !== PROTOCOL || width === undefined) throw new Error('this is no pickled text');
  const start = at + 1 + width;
  if (start > pickle.length) throw new Error('this pickle is cut off');
  const length = width === 8 ? Number(pickle.readBigUInt64LE(at + 1)) : pickle.readUIntLE(at + 1, width);
  // Behind the text stands one instruction to remember it, and the last.
  const behind = pickle.length - start - length;
  if (behind < 1) throw new Error('this pickle is cut off');
  if (behind > MOST_BEHIND) throw new Error('this is no pickled text alone');
  // Python's `surrogatepass` writes bytes that are no UTF-8.
  const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  return utf8.decode(pickle.subarray(start, start + length));
}

/** Its tests need a hundred packages, so a grader of one's own judges it. */
export const bigCodeBench = defineSet({
  name: 'BigCodeBench',
  mapping: { id: 'task_id', question: 'instruct_prompt', answer: 'test', topic: 'libs' },
  schema: z.object({
    ...{ task_id: text, instruct_prompt: text, complete_prompt: text, code_prompt: z.string(), test: text },
    ...{ entry_point: text, libs: z.union([z.string(), z.array(z.string())]).optional() },
  }),
  draft: ({ test, entry_point, code_prompt, libs: listed = [] }) => {
    // The set itself holds a list as Python prints it.
    const libs =
      typeof listed === 'string'
        ? Array.from(listed.matchAll(/'([^']+)'/g), ([, name = '']) => name)
        : listed;
    return {
      ...{ grader: 'custom', activity: 'bigCodeBench', taskQueue: 'big-code-bench' },
      answer: JSON.stringify({ test, entry_point, code_prompt, libs }),
      topic: libs[0],
    };
  },
});

import { inflateSync } from 'node:zlib';
import { z } from 'zod';
import { reasonOf } from '../../reason-of';
import { defineSet, orJson, text } from './format';

const testCases = z.array(z.object({ input: z.string(), output: z.string() }), {
  error: 'expected a list of tests',
});

/** Any release; dates say which questions are new to a model. */
export const liveCodeBench = defineSet({
  name: 'LiveCodeBench',
  mapping: {
    id: 'question_id',
    question: 'question_content and starter_code',
    tests: 'public_test_cases and private_test_cases',
    function: 'func_name of metadata',
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
    platform: z.string().optional(),
    difficulty: z.string().optional(),
    contest_date: z.string().optional(),
  }),
  draft: (row) => ({
    id: row.question_id,
    question: `${row.question_content.trim()}\n\n${taskFor(row.starter_code ?? '')}`,
    grader: 'code',
    function: row.metadata?.func_name,
    tests: [...row.public_test_cases, ...readHidden(row.private_test_cases)],
    topic: row.platform,
    level: row.difficulty,
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
  const json = packed.trimStart().startsWith('[') ? packed : unpack(packed);
  const { success, data } = testCases.safeParse(JSON.parse(json));
  if (success) return data;
  throw new Error('private_test_cases is no list of tests with input and output');
}

function unpack(packed: string): string {
  try {
    return unpickleText(inflateSync(Buffer.from(packed, 'base64'), { maxOutputLength: MAX_BYTES }));
  } catch (error) {
    const reason = reasonOf(error);
    throw new Error(`private_test_cases cannot be unpacked: ${reason}`, { cause: error });
  }
}

/** How many bytes each harmless instruction of a pickle is followed by, and of them, how many say a text's length. */
const INSTRUCTIONS: Readonly<
  Record<number, { readonly skips: number } | { readonly textLength: 1 | 4 | 8 }>
> = {
  0x80: { skips: 1 }, // PROTO
  0x95: { skips: 8 }, // FRAME
  0x8c: { textLength: 1 }, // SHORT_BINUNICODE
  0x58: { textLength: 4 }, // BINUNICODE
  0x8d: { textLength: 8 }, // BINUNICODE8
  0x94: { skips: 0 }, // MEMOIZE
  0x71: { skips: 1 }, // BINPUT
  0x72: { skips: 4 }, // LONG_BINPUT
};
const STOP = 0x2e;

/**
 * Reads the one text that a pickle of Python's protocols 2 to 5 holds. A pickle is a program: only the instructions that
 * make a text are known here, and none that could call anything.
 *
 * @throws Error for any other
 */
export function unpickleText(pickle: Buffer): string {
  let at = 0;
  const take = (count: number): Buffer => {
    if (count > pickle.length - at) throw new Error('a pickle is cut off');
    at += count;
    return pickle.subarray(at - count, at);
  };
  const texts: string[] = [];
  for (let code = take(1).readUInt8(); code !== STOP; code = take(1).readUInt8()) {
    const instruction = INSTRUCTIONS[code];
    if (instruction === undefined) {
      const name = `instruction 0x${code.toString(16)}`;
      throw new Error(`a pickle holds more than a text (${name}), which is not carried out`);
    }
    if ('skips' in instruction) take(instruction.skips);
    else {
      const length = take(instruction.textLength);
      const bytes =
        length.length === 8 ? Number(length.readBigUInt64LE()) : length.readUIntLE(0, length.length);
      // Python's `surrogatepass` writes bytes that are no UTF-8.
      texts.push(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(take(bytes)));
    }
  }
  const [only] = texts;
  if (only === undefined || texts.length > 1)
    throw new Error(`a pickle holds ${texts.length} texts in place of one`);
  return only;
}

/** Its tests need a hundred packages, so a grader of one's own judges it. */
export const bigCodeBench = defineSet({
  name: 'BigCodeBench',
  mapping: {
    id: 'task_id',
    question: 'instruct_prompt',
    answer: 'test, entry_point, code_prompt and libs, as JSON',
    grader: 'none: an activity bigCodeBench of your own, see docs/evaluation.md',
    topic: 'the first of libs',
  },
  schema: z.object({
    ...{ task_id: text, instruct_prompt: text, complete_prompt: text, code_prompt: z.string(), test: text },
    ...{ entry_point: text, libs: z.union([z.string(), z.array(z.string())]).optional() },
  }),
  draft: ({ task_id: id, instruct_prompt: question, test, entry_point, code_prompt, libs: listed = [] }) => {
    // The set itself holds a list as Python prints it.
    const libs =
      typeof listed === 'string'
        ? Array.from(listed.matchAll(/'([^']+)'/g), ([, name = '']) => name)
        : listed;
    return {
      ...{ id, question, grader: 'custom', activity: 'bigCodeBench', taskQueue: 'big-code-bench' },
      answer: JSON.stringify({ test, entry_point, code_prompt, libs }),
      topic: libs[0],
    };
  },
});

import { inflateSync } from 'node:zlib';
import { z } from 'zod';
import { reasonOf } from '../../../reason-of';
import { defineFormat, orJson, text } from '../format';
import { unpickleText } from '../unpickle-text';

const testCases = z.array(z.object({ input: z.string(), output: z.string() }), {
  error: 'expected a list of tests',
});

/** Any release: each is files of its own, and which questions are new to a model is told by their dates. */
export const liveCodeBench = defineFormat({
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
  draft: (row) => {
    const name = row.metadata?.func_name ?? undefined;
    const date = /^\d{4}-\d{2}-\d{2}/.exec(row.contest_date ?? '')?.[0];
    return {
      id: row.question_id,
      source: 'LiveCodeBench',
      question: `${row.question_content.trim()}\n\n${taskFor(row.starter_code ?? '')}`,
      grader: 'code',
      ...(name !== undefined && { function: name }),
      tests: [...row.public_test_cases, ...readHidden(row.private_test_cases)].map(({ input, output }) => ({
        input,
        output,
      })),
      ...(row.platform && { topic: row.platform }),
      ...(row.difficulty && { level: row.difficulty }),
      ...(date !== undefined && { date }),
    };
  },
});

/** In few words: what many questions have in common makes them look alike. */
function taskFor(starter: string): string {
  if (starter.trim() === '')
    return 'Write a Python program for standard input and output, in a block of code.';
  return `Complete this Python code, in a block of code:\n\n\`\`\`python\n${starter.trimEnd()}\n\`\`\``;
}

/** Of one question, unpacked. */
const MOST_BYTES = 512 * 1024 * 1024;

/** Tests as JSON, or as that text pickled, packed by zlib and written in base64. */
function readHidden(packed: string): z.output<typeof testCases> {
  const json = packed.trimStart().startsWith('[') ? packed : unpack(packed);
  const { success, data } = testCases.safeParse(JSON.parse(json));
  if (success) return data;
  throw new Error('private_test_cases is no list of tests with input and output');
}

function unpack(packed: string): string {
  try {
    return unpickleText(inflateSync(Buffer.from(packed, 'base64'), { maxOutputLength: MOST_BYTES }));
  } catch (error) {
    const reason = reasonOf(error);
    throw new Error(`private_test_cases cannot be unpacked: ${reason}`, { cause: error });
  }
}

/** Its tests need a hundred packages, so a grader of one's own judges it, which has them. */
export const bigCodeBench = defineFormat({
  name: 'BigCodeBench',
  mapping: {
    id: 'task_id',
    question: 'instruct_prompt',
    answer: 'test, entry_point, code_prompt and libs, as JSON',
    grader: 'none: an activity bigCodeBench of your own, see docs/evaluation.md',
    topic: 'the first of libs',
  },
  schema: z.object({
    task_id: text,
    instruct_prompt: text,
    complete_prompt: text,
    code_prompt: z.string(),
    test: text,
    entry_point: text,
    libs: z.union([z.string(), z.array(z.string())]).optional(),
  }),
  draft: ({ task_id: id, instruct_prompt: question, test, entry_point, code_prompt, libs = [] }) => {
    // In the set itself it is a list as Python prints it.
    const needed =
      typeof libs === 'string' ? Array.from(libs.matchAll(/'([^']+)'/g), ([, name = '']) => name) : libs;
    return {
      id,
      source: 'BigCodeBench',
      question,
      grader: 'custom',
      activity: 'bigCodeBench',
      taskQueue: 'big-code-bench',
      answer: JSON.stringify({ test, entry_point, code_prompt, libs: needed }),
      ...(needed[0] !== undefined && { topic: needed[0] }),
    };
  },
});

import { createReadStream } from 'node:fs';
import { z } from 'zod';
import type { AskedRequest, SolveRequest } from '../../client';
import { explainFirst } from '../../config/errors';
import { reasonOf, UsageError } from '../../errors';
import { answerSchemaSchema } from '../../protocol/answer-schema';
import { conversationTurnSchema } from '../../protocol/input';
import { MAX_QUESTION_BYTES } from '../../protocol/solve';
import { whyUnreadable } from '../../runtime/unreadable-file';

export interface AskedOptions {
  /** File with a conversation whose last turn is the question. */
  readonly messages?: string;
  /** File with the JSON Schema that the answer must fit. */
  readonly schema?: string;
}

const messagesSchema = z.array(conversationTurnSchema);

/** Reads the question from the argument (`-`: stdin) or a conversation from its file, and the schema from its file. */
export async function readAskedFiles(
  argument: string | undefined,
  { messages, schema }: AskedOptions,
): Promise<AskedRequest & Pick<SolveRequest, 'answerSchema'>> {
  const answerSchema =
    schema === undefined ? {} : { answerSchema: await readJsonFile(schema, answerSchemaSchema) };
  if (messages !== undefined) {
    return { messages: await readJsonFile(messages, messagesSchema), ...answerSchema };
  }
  const question = argument === '-' ? (await readAll('-')).trim() : (argument ?? '');
  return { question, ...answerSchema };
}

async function readJsonFile<Schema extends z.ZodType>(
  file: string,
  schema: Schema,
): Promise<z.output<Schema>> {
  const name = nameOfFile(file);
  const text = await readAll(file);
  let content: unknown;
  try {
    content = JSON.parse(text);
  } catch (cause) {
    throw new UsageError(`${name} is not valid JSON: ${reasonOf(cause)}`, { cause });
  }
  const { success, data, error } = schema.safeParse(content);
  if (success) return data;
  throw new UsageError(`${name} cannot be used: ${explainFirst(error, content)}`);
}

const nameOfFile = (file: string): string => (file === '-' ? 'standard input' : file);

/** Reads a file that the user named; fails as soon as it is too long, since what writes to stdin may never stop. */
export async function readAll(file: string): Promise<string> {
  const input: AsyncIterable<Buffer> = file === '-' ? process.stdin : createReadStream(file);
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of input) {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes > MAX_QUESTION_BYTES) break;
    }
  } catch (cause) {
    throw new UsageError(whyUnreadable(nameOfFile(file), cause), { cause });
  }
  if (bytes <= MAX_QUESTION_BYTES) return Buffer.concat(chunks).toString('utf8');
  throw new UsageError(`${nameOfFile(file)} has over ${MAX_QUESTION_BYTES} bytes: shorten it`);
}

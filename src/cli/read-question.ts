import { MAX_QUESTION_BYTES } from '../protocol/solve';
import { UsageError } from './usage-error';

/**
 * The question of a command line: the argument itself, or standard input for `-`.
 *
 * @throws UsageError when standard input has more than any run accepts
 */
export async function readQuestion(argument: string): Promise<string> {
  return argument === '-' ? readAll(process.stdin) : argument;
}

async function readAll(input: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of input) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > MAX_QUESTION_BYTES) throw tooLong();
  }
  return Buffer.concat(chunks).toString('utf8').trim();
}

/** Told at once: whoever writes to us may never stop. */
function tooLong(): UsageError {
  return new UsageError(
    `the question on standard input has more than ${MAX_QUESTION_BYTES} bytes: shorten it, or give the part that matters`,
  );
}

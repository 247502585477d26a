import { z } from 'zod';
import { reasonOf } from '../../errors';
import { openFetch } from '../../network/fetch';
import { orJson } from '../or-json';
import {
  endOf,
  MOST_STDERR,
  type ProgramLimits,
  type ProgramRun,
  type Sandbox,
  SandboxError,
  wallSecondsOf,
} from './sandbox';

const PLACES = 16;
/** Extra time for the request itself, and for its turn at the server. */
const PATIENCE_MS = 60_000;

const text = z
  .string()
  .nullish()
  .transform((given) => given ?? '');

const runResult = z.object({
  status: z.enum(['Finished', 'Error', 'TimeLimitExceeded']),
  return_code: z.int().nullish(),
  stdout: text,
  stderr: text,
});

const answerSchema = orJson(
  z.object({
    status: z.enum(['Success', 'Failed', 'SandboxError']),
    message: text,
    run_result: runResult.nullish(),
  }),
);

/** Runs code on a server with SandboxFusion's protocol, `POST /run_code`, which is trusted to isolate programs. */
export function sandboxFusion(url: string): Sandbox {
  return {
    name: 'sandbox-fusion',
    places: PLACES,
    run: async ({ python, stdin }, limits) => {
      const { seconds, memoryMb } = limits;
      // The server itself limits only wall-clock time.
      const limited = [
        'import resource',
        `resource.setrlimit(resource.RLIMIT_CPU, (${seconds}, ${seconds + 1}))`,
        `resource.setrlimit(resource.RLIMIT_AS, (${memoryMb} << 20, ${memoryMb} << 20))`,
        python,
      ];
      const request = {
        language: 'python',
        code: limited.join('\n'),
        stdin,
        compile_timeout: 10,
        run_timeout: wallSecondsOf(limits),
        memory_limit_MB: memoryMb,
        files: {},
        fetch_files: [],
      };
      const answer = await post(url, request, limits);
      return answer === null ? tooLong(limits) : readAnswer(url, answer, limits);
    },
    remedyFor: () => 'Start SandboxFusion there, or correct CONDUCTOR_SANDBOX',
  };
}

/** Returns null if the answer is longer than its program may print. */
async function post(url: string, request: object, limits: ProgramLimits): Promise<string | null> {
  try {
    const send = await openFetch();
    const response = await send(new URL('run_code', `${url.replace(/\/$/, '')}/`), {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(request),
      signal: AbortSignal.timeout(wallSecondsOf(limits) * 1000 + PATIENCE_MS),
    });
    // JSON escapes a byte as at most six.
    const body = await readAtMost(response, 6 * (limits.outputBytes + MOST_STDERR) + 1_000_000);
    if (response.ok) return body;
    throw new SandboxError(`${url} answered ${response.status}: ${(body ?? '').slice(0, 200)}`);
  } catch (error) {
    if (error instanceof SandboxError) throw error;
    const { cause = error } = error as Error;
    throw new SandboxError(`${url} did not answer: ${reasonOf(cause)}`);
  }
}

async function readAtMost({ body }: Response, most: number): Promise<string | null> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of (body ?? []) as AsyncIterable<Uint8Array>) {
    bytes += chunk.length;
    if (bytes > most) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function readAnswer(url: string, body: string, limits: ProgramLimits): ProgramRun {
  const { data: answer } = answerSchema.safeParse(body);
  if (answer === undefined) throw new SandboxError(`${url} answered no result: ${body.slice(0, 200)}`);
  const { status, message, run_result: run } = answer;
  if (status === 'SandboxError' || !run || run.status === 'Error') {
    throw new SandboxError(`${url} failed: ${message.slice(0, 200)}`);
  }
  if (run.status === 'TimeLimitExceeded') {
    return { kind: 'stopped', reason: `it was not done after ${wallSecondsOf(limits)} s` };
  }
  const { stdout, stderr, return_code } = run;
  const code = return_code ?? 0;
  if (Buffer.byteLength(stdout) > limits.outputBytes) return tooLong(limits);
  // Python reports a process ended by a signal with the negative signal number.
  return endOf(code < 0 ? 128 - code : code, { stdout, stderr }, limits);
}

function tooLong({ outputBytes }: ProgramLimits): ProgramRun {
  return { kind: 'stopped', reason: `it printed more than ${outputBytes} bytes` };
}

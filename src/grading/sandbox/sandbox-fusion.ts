import { z } from 'zod';
import { reasonOf } from '../../reason-of';
import {
  MOST_STDERR,
  type Program,
  type ProgramLimits,
  type ProgramRun,
  type Sandbox,
  SandboxError,
  WALL_CLOCK,
} from './sandbox';

/** Programs at once: the server has machines of its own, and makes the rest wait. */
const PLACES = 16;
/** For the request itself, and for its turn at the server. */
const PATIENCE_MS = 60_000;

/** Stands for fields that are left out, or null. */
function orElse<Schema extends z.ZodType>(schema: Schema, value: z.output<Schema>) {
  return schema.nullish().transform((given) => given ?? value);
}

const commandSchema = z.object({
  status: z.enum(['Finished', 'Error', 'TimeLimitExceeded']),
  return_code: orElse(z.int(), 0),
  stdout: orElse(z.string(), ''),
  stderr: orElse(z.string(), ''),
});

const answerSchema = z.object({
  status: z.enum(['Success', 'Failed', 'SandboxError']),
  message: orElse(z.string(), ''),
  run_result: commandSchema.nullish(),
});

/** A server that runs code, by the protocol of SandboxFusion: `POST /run_code`. It is trusted to keep programs in. */
export class SandboxFusion implements Sandbox {
  readonly name = 'sandbox-fusion';
  readonly places = PLACES;

  /** @param url of the server, e.g. `http://127.0.0.1:8080` */
  constructor(private readonly url: string) {}

  async run({ python, stdin }: Program, limits: ProgramLimits): Promise<ProgramRun> {
    const { seconds, memoryMb, outputBytes } = limits;
    const wallSeconds = seconds * WALL_CLOCK;
    const request = {
      language: 'python',
      code: `${limitPython(limits)}\n${python}`,
      stdin,
      compile_timeout: 10,
      run_timeout: wallSeconds,
      memory_limit_MB: memoryMb,
      files: {},
      fetch_files: [],
    };
    const text = await this.post(request, {
      patienceMs: wallSeconds * 1000 + PATIENCE_MS,
      // JSON writes one byte as six at most.
      most: 6 * (outputBytes + MOST_STDERR) + 1_000_000,
    });
    if (text === null) return { kind: 'stopped', reason: `it printed more than ${outputBytes} bytes` };
    return this.readAnswer(text, limits);
  }

  /** Null if the answer is longer than `most` bytes. */
  private async post(
    request: unknown,
    { patienceMs, most }: { patienceMs: number; most: number },
  ): Promise<string | null> {
    try {
      const response = await fetch(new URL('run_code', `${this.url.replace(/\/$/, '')}/`), {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(request),
        signal: AbortSignal.timeout(patienceMs),
      });
      const text = await readAtMost(response, most);
      if (response.ok) return text;
      throw new SandboxError(`${this.url} answered ${response.status}: ${(text ?? '').slice(0, 200)}`);
    } catch (error) {
      if (error instanceof SandboxError) throw error;
      const { message, cause } = error as Error;
      throw new SandboxError(
        `${this.url} did not answer: ${cause === undefined ? message : reasonOf(cause)}`,
      );
    }
  }

  private readAnswer(text: string, limits: ProgramLimits): ProgramRun {
    const { data: answer } = answerSchema.safeParse(readJson(text));
    if (answer === undefined) throw new SandboxError(`${this.url} answered no result: ${text.slice(0, 200)}`);
    const { status, message, run_result: run } = answer;
    if (status === 'SandboxError' || !run || run.status === 'Error') {
      throw new SandboxError(`${this.url} failed: ${message.slice(0, 200)}`);
    }
    return readRun(run, limits);
  }
}

const CPU_TIME_IS_UP = 152;

function readRun(run: z.output<typeof commandSchema>, { seconds, outputBytes }: ProgramLimits): ProgramRun {
  const { status, stdout, stderr, return_code: code } = run;
  // Python reports the signal that ended a process as its number below zero.
  const exitCode = code < 0 ? 128 - code : code;
  if (status === 'TimeLimitExceeded') return stopped(`it was not done after ${seconds * WALL_CLOCK} s`);
  if (exitCode === CPU_TIME_IS_UP) return stopped(`it took more than ${seconds} s of CPU time`);
  if (Buffer.byteLength(stdout) > outputBytes) return stopped(`it printed more than ${outputBytes} bytes`);
  return { kind: 'ended', exitCode, stdout, stderr: stderr.slice(-MOST_STDERR) };
}

function stopped(reason: string): ProgramRun {
  return { kind: 'stopped', reason };
}

/** The limits that a program must have by itself: the server counts wall-clock time alone. */
function limitPython({ seconds, memoryMb }: ProgramLimits): string {
  return [
    'import resource',
    `resource.setrlimit(resource.RLIMIT_CPU, (${seconds}, ${seconds + 1}))`,
    `resource.setrlimit(resource.RLIMIT_AS, (${memoryMb} << 20, ${memoryMb} << 20))`,
  ].join('\n');
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

function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

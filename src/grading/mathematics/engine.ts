import { on } from 'node:events';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { reasonOf } from '../../errors';
import { type Helper, HelperError, Killable } from '../killable';

/**
 * `different`: both were understood, and their values differ. `no`: they are not seen to be the same, which is less.
 * `unknown`: one was not understood, or took too long.
 */
export type Comparison = 'same' | 'different' | 'no' | 'unknown';

export type EngineJob =
  | { readonly kind: 'expression'; readonly right: string; readonly answer: string }
  | {
      readonly kind: 'equation' | 'inequality';
      readonly right: readonly [string, string];
      readonly answer: readonly [string, string];
    };

const PACKAGE = '@cortex-js/compute-engine';
/** 46 MB that only the grader of mathematics needs. */
export const INSTALL_COMPUTE_ENGINE = `npm install ${PACKAGE}@0.140`;

/** Plain JavaScript beside the sources: a thread loads a file as it lies, in the package as in a test. */
const THREAD = join(__dirname, '../../../src/grading/mathematics/engine-thread.cjs');
/** A tower of exponents asks for more, and ends the thread. */
const MEMORY_MB = 512;

let version: string | null | undefined;

/** The version of compute-engine that is installed; null where none is. */
export function engineVersion(): string | null {
  if (version === undefined) version = findVersion();
  return version;
}

function findVersion(): string | null {
  try {
    // Its package.json is no export of its own; the file that is loaded lies two folders below.
    const file = join(createRequire(THREAD).resolve(PACKAGE), '../../../package.json');
    return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version;
  } catch {
    return null;
  }
}

/** One for a process: its first request loads compute-engine, in a thread of its own. */
const thread = new Killable(startThread, { startMs: 60_000, answerMs: 3_000 });

/** @throws HelperError where the engine fails, which says nothing about the answer */
export async function askEngine(job: EngineJob): Promise<Comparison> {
  return (await thread.ask(job)) as Comparison;
}

function startThread(): Helper {
  const resourceLimits = { maxOldGenerationSizeMb: MEMORY_MB };
  const worker = new Worker(THREAD, { resourceLimits, stdout: true, stderr: true });
  worker.unref();
  return {
    post: (request) => {
      worker.postMessage(request);
    },
    answers: messagesOf(worker),
    kill: () => void worker.terminate(),
  };
}

async function* messagesOf(worker: Worker): AsyncGenerator {
  try {
    const messages = on(worker, 'message', { close: ['exit'] }) as AsyncIterable<[unknown]>;
    for await (const [message] of messages) yield message;
  } catch (error) {
    throw new HelperError(reasonOf(error));
  }
}

import { availableParallelism } from 'node:os';
import type * as Engine from 'node-llama-cpp' with { 'resolution-mode': 'import' };

/** The engine's code and its one instance. */
export interface LoadedEngine {
  readonly code: typeof Engine;
  readonly llama: Engine.Llama;
}

/** One core stays free for the rest of this process: its threads spin, and would starve heartbeats. */
export const THREADS = Math.max(1, availableParallelism() - 1);

/**
 * Starts the engine on the CPU with its prebuilt binary, silent. It never compiles and never downloads its own source:
 * a worker process is no place for a compiler.
 */
export async function startEngine(): Promise<LoadedEngine> {
  const code = await importEngine();
  const llama = await code.getLlama({
    gpu: false,
    build: 'never',
    skipDownload: true,
    progressLogs: false,
    logLevel: code.LlamaLogLevel.disabled,
    maxThreads: THREADS,
  });
  return { code, llama };
}

/**
 * The engine's code, loaded when it is first needed.
 *
 * @throws Error that says how to install it: it is an optional peer dependency
 */
export async function importEngine(): Promise<typeof Engine> {
  try {
    return await import('node-llama-cpp');
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(
      `the engine for local models, node-llama-cpp, cannot be loaded; install it with "npm install node-llama-cpp@3" (${reason})`,
      { cause: error },
    );
  }
}

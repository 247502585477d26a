import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join, resolve } from 'node:path';
import type * as Engine from 'node-llama-cpp';
import type { ChatHistoryItem, GbnfJsonObjectSchema, LlamaChat, LlamaModel } from 'node-llama-cpp' with {
  'resolution-mode': 'import',
};
import { isOurImage } from '../../explain';
import type { Usage } from '../../protocol/call';
import { reasonOf } from '../../reason-of';
import type { Message } from './model';

/** How one answer is generated. */
interface Generation {
  /** 0 takes the likeliest token each time. */
  readonly temperature: number;
  readonly maxTokens: number;
  /** A JSON schema that the text is held to, token by token. */
  readonly schema: Readonly<Record<string, unknown>> | null;
  readonly seed: number | null;
  readonly signal: AbortSignal;
}

/** A model in memory, ready to answer one request at a time. */
interface LoadedModel {
  /** `stopReason` is `maxTokens` where the text was cut off. */
  generate(
    messages: readonly Message[],
    how: Generation,
  ): Promise<{ text: string; stopReason: string; usage: Usage }>;
}

/** Context that SmolLM2 was trained with; it takes little memory. */
const MAX_CONTEXT_TOKENS = 8192;

/**
 * Tried out: with less of it, or with the engine's own 64 tokens to look back on, a small model says one sentence until
 * it is cut off.
 */
const REPEAT_PENALTY = { penalty: 1.15, lastTokens: 256 };

/** Loads the engine with the first model that is asked for, and keeps all it loads. */
export function createLoader(): (file: string, name: string) => Promise<LoadedModel> {
  const engine = keepMade(startEngine);
  const models = new Map<string, () => Promise<LoadedModel>>();
  return (file, name) => {
    const model = models.get(file) ?? keepMade(async () => loadModel(await engine(), file, name === SMOLLM2));
    models.set(file, model);
    return model();
  };
}

async function loadModel(
  { code, llama }: Awaited<ReturnType<typeof startEngine>>,
  file: string,
  isSmolLm2: boolean,
): Promise<LoadedModel> {
  const model = await llama.loadModel({ modelPath: file });
  const context = await model.createContext({ contextSize: { max: MAX_CONTEXT_TOKENS }, threads: THREADS });
  const sequence = context.getSequence();
  // The engine finds this out by itself, in half a second of the processor's time.
  const chatWrapper = isSmolLm2 ? new code.ChatMLChatWrapper() : 'auto';
  const chat = new code.LlamaChat({ contextSequence: sequence, chatWrapper });

  return {
    async generate(messages, { schema, maxTokens, seed, ...how }) {
      const history = messages.map(({ role, text }): ChatHistoryItem =>
        role === 'assistant' ? { type: 'model', response: [text] } : { type: role, text },
      );
      const promptTokens = countTokens(chat, model, history);
      const room = context.contextSize - promptTokens;
      // The engine would rather drop the beginning of the prompt, and with it the question.
      if (room <= 0) {
        throw new Error(
          `the prompt has ${promptTokens} tokens and the model's context holds ${context.contextSize}; ` +
            'ask a shorter question, or give the step to a worker with a longer context',
        );
      }
      // Clears the context of the previous request: it would save reading but, by rounding, change the answer.
      await sequence.clearHistory();
      const before = sequence.tokenMeter.getState();
      const { response, metadata } = await chat.generateResponse(history, {
        ...how,
        maxTokens: Math.min(maxTokens, room),
        seed: seed ?? undefined,
        // JSON repeats its keys.
        repeatPenalty: schema === null ? REPEAT_PENALTY : undefined,
        // The engine's types only fit a schema that is written in place.
        grammar:
          schema === null
            ? undefined
            : await llama.createGrammarForJsonSchema(schema as GbnfJsonObjectSchema),
      });
      const { usedInputTokens, usedOutputTokens } = sequence.tokenMeter.diff(before);
      return {
        text: response,
        stopReason: metadata.stopReason,
        usage: {
          inputTokens: usedInputTokens,
          outputTokens: usedOutputTokens,
          cachedInputTokens: 0,
          reasoningTokens: 0,
        },
      };
    },
  };
}

/** The prompt as the model is shown it, with the marks of its chat template. */
function countTokens({ chatWrapper }: LlamaChat, model: LlamaModel, history: ChatHistoryItem[]): number {
  const asked: ChatHistoryItem[] = [...history, { type: 'model', response: [] }];
  const { contextText } = chatWrapper.generateContextState({ chatHistory: asked });
  return contextText.tokenize(model.tokenizer).length;
}

/** One core stays free for the rest of this process: its threads spin, and would starve heartbeats. */
const THREADS = Math.max(1, availableParallelism() - 1);

/**
 * Starts the engine on the CPU with its prebuilt binary, silent. It never compiles and never downloads its own source:
 * a worker process is no place for a compiler.
 */
async function startEngine(): Promise<{ code: typeof Engine; llama: Engine.Llama }> {
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

/** The engine is an optional peer dependency. */
export function howToGetEngine(): string {
  return isOurImage()
    ? 'this image holds none: serve the model by an OpenAI-compatible server, and name that by "baseUrl"'
    : '"npm install node-llama-cpp@3" installs it';
}

/** Whether the engine lies where it would be loaded from. */
export function hasEngine(): boolean {
  const folders = require.resolve.paths('node-llama-cpp') ?? [];
  return folders.some((folder) => existsSync(join(folder, 'node-llama-cpp', 'package.json')));
}

/** @throws Error that says how to install the engine */
async function importEngine(): Promise<typeof Engine> {
  try {
    return await import('node-llama-cpp');
  } catch (error) {
    const reason = reasonOf(error);
    throw new Error(
      `the engine for local models, node-llama-cpp, cannot be loaded (${reason}): ${howToGetEngine()}`,
      { cause: error },
    );
  }
}

/** Makes a thing when it is first asked for, and keeps it. After a failure, which may be mended, it tries again. */
export function keepMade<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | null = null;
  return () =>
    (made ??= make().catch((error: unknown) => {
      made = null;
      throw error;
    }));
}

/** Downloads weights, unless they are there already, and returns the path of their GGUF file. */
export type FetchWeights = () => Promise<string>;

/** The one model that has a name of its own. */
const SMOLLM2 = 'smollm2';

/** Two letters at least: a single one is a drive. */
const ADDRESS = /^[a-z]{2,20}:/i;

/**
 * The path of a model's GGUF file, downloaded first where `model` is an address.
 *
 * @throws Error that names the file that is missing
 */
export async function findModelFile(
  model: string,
  { fetchSmolLm2, signal }: { fetchSmolLm2: FetchWeights; signal: AbortSignal },
): Promise<string> {
  if (model === SMOLLM2) return fetchSmolLm2();
  if (ADDRESS.test(model)) {
    const { resolveModelFile } = await importEngine();
    return resolveModelFile(model, { cli: false, signal });
  }
  const path = resolve(model);
  if (existsSync(path)) return path;
  throw new Error(
    `${path} does not exist; name a GGUF file, an address such as hf:user/repository:Q4_K_M, or ${SMOLLM2}`,
  );
}

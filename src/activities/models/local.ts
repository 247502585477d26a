import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join, resolve } from 'node:path';
import type * as Engine from 'node-llama-cpp';
import type { ChatHistoryItem, GbnfJsonObjectSchema, LlamaChat, LlamaModel } from 'node-llama-cpp' with {
  'resolution-mode': 'import',
};
import { isOurImage } from '../../runtime/start-program';
import { reasonOf } from '../../errors';
import { routeGlobalFetch } from '../../network/fetch';
import type { OutputSchema } from '../../plan/plan';
import { Turns, unlessAborted } from '../../runtime/turns';
import { chooseSettings, type Complete, type ModelReply, type ModelRequest } from './model';

const SMOLLM2 = 'smollm2';

/** Context length that SmolLM2 was trained with. */
const MAX_CONTEXT_TOKENS = 8192;

/** Found by experiment: with a lower penalty or fewer tokens to look back on, a small model repeats one sentence. */
const REPEAT_PENALTY = { penalty: 1.15, lastTokens: 256 };

/** Leaves one core free for the rest of this process: the engine's threads spin, and would starve heartbeats. */
const THREADS = Math.max(1, availableParallelism() - 1);

/**
 * Returns a function that runs models in this process, on the CPU, with `node-llama-cpp`. A card's `model` is
 * `smollm2`, the path of a GGUF file, or an address to download from, e.g. `hf:user/repository:Q4_K_M`. One request
 * runs at a time, since the engine keeps all its cores busy; it ends as soon as its signal is aborted.
 * @param fetchSmolLm2 downloads the weights of `smollm2`, if missing, and returns the path of their GGUF file
 */
export function createCompleteLocal(fetchSmolLm2: () => Promise<string>): Complete {
  const turns = new Turns(1);
  const models = new Map<string, LoadedModel>();
  let engine: StartedEngine | undefined;
  return (request) => {
    const { signal, card } = request;
    return unlessAborted(
      signal,
      turns.take(async () => {
        signal.throwIfAborted();
        const file = card.model === SMOLLM2 ? await fetchSmolLm2() : await findModelFile(card.model, signal);
        engine ??= await startEngine();
        const model = models.get(file) ?? (await loadModel(engine, file, card.model));
        models.set(file, model);
        signal.throwIfAborted();
        return answer(model, request);
      }),
    );
  };
}

type StartedEngine = Awaited<ReturnType<typeof startEngine>>;
type LoadedModel = Awaited<ReturnType<typeof loadModel>>;

async function loadModel({ code, llama }: StartedEngine, file: string, name: string) {
  const model = await llama.loadModel({ modelPath: file });
  const context = await model.createContext({ contextSize: { max: MAX_CONTEXT_TOKENS }, threads: THREADS });
  const sequence = context.getSequence();
  // Saves the engine's own detection, which takes half a second of CPU time.
  const chatWrapper = name === SMOLLM2 ? new code.ChatMLChatWrapper() : 'auto';
  const chat = new code.LlamaChat({ contextSequence: sequence, chatWrapper });
  return { llama, model, context, sequence, chat };
}

async function answer(
  { llama, model, context, sequence, chat }: LoadedModel,
  request: ModelRequest,
): Promise<ModelReply> {
  const { messages, signal, onText } = request;
  const settings = chooseSettings(request, { lacks: ['presencePenalty'], efforts: [] });
  const { temperature, topP, topK, seed, maxOutputTokens, outputSchema, dropped } = settings;
  const history = messages.map(({ role, text }): ChatHistoryItem =>
    role === 'assistant' ? { type: 'model', response: [text] } : { type: role, text },
  );
  const promptTokens = countTokens(chat, model, history);
  const room = context.contextSize - promptTokens;
  // Otherwise the engine would drop the beginning of the prompt, and with it the question.
  if (room <= 0) {
    throw new Error(
      `the prompt has ${promptTokens} tokens and the model's context holds ${context.contextSize}; ` +
        'ask a shorter question, or give the step to a worker with a longer context',
    );
  }
  // Clears the previous request's context: reusing it would save time, but rounding would change the answer.
  await sequence.clearHistory();
  const grammar = outputSchema && (await grammarOf(llama, outputSchema));
  const before = sequence.tokenMeter.getState();
  const { response, metadata } = await chat.generateResponse(history, {
    signal,
    onTextChunk: onText,
    temperature: temperature ?? 0,
    topP,
    topK,
    seed,
    maxTokens: Math.min(maxOutputTokens, room),
    // No penalty for JSON, which must repeat its keys.
    repeatPenalty: outputSchema ? undefined : REPEAT_PENALTY,
    grammar,
  });
  const { usedInputTokens, usedOutputTokens } = sequence.tokenMeter.diff(before);
  const tokens = { inputTokens: usedInputTokens, outputTokens: usedOutputTokens };
  return {
    text: response,
    finish: metadata.stopReason === 'maxTokens' ? 'length' : 'stop',
    refusal: null,
    usage: { ...tokens, cachedInputTokens: 0, reasoningTokens: 0 },
    reportedNanoUsd: null,
    dropped: outputSchema && !grammar ? [...dropped, 'outputSchema'] : dropped,
  };
}

/** Returns undefined if the engine does not support the schema. Its types only fit a literal one. */
function grammarOf(llama: Engine.Llama, { schema }: OutputSchema): Promise<Engine.LlamaGrammar | undefined> {
  return llama.createGrammarForJsonSchema(schema as GbnfJsonObjectSchema).catch(() => undefined);
}

function countTokens({ chatWrapper }: LlamaChat, model: LlamaModel, history: ChatHistoryItem[]): number {
  const asked: ChatHistoryItem[] = [...history, { type: 'model', response: [] }];
  const { contextText } = chatWrapper.generateContextState({ chatHistory: asked });
  return contextText.tokenize(model.tokenizer).length;
}

/** Starts the engine on the CPU, silent, with its prebuilt binary: a worker process must not run a compiler. */
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

export function howToGetEngine(): string {
  return isOurImage()
    ? 'this image does not include the engine; run the model on an OpenAI-compatible server and set its "baseUrl"'
    : '"npm install node-llama-cpp@3" installs it';
}

/** Returns whether the engine is installed in a folder that it would be loaded from. */
export function hasEngine(): boolean {
  const folders = require.resolve.paths('node-llama-cpp') ?? [];
  return folders.some((folder) => existsSync(join(folder, 'node-llama-cpp', 'package.json')));
}

async function importEngine(): Promise<typeof Engine> {
  try {
    return await import('node-llama-cpp');
  } catch (error) {
    const problem = `the engine for local models, node-llama-cpp, cannot be loaded (${reasonOf(error)})`;
    throw new Error(`${problem}: ${howToGetEngine()}`, { cause: error });
  }
}

/** Scheme of an address, at least two letters long: a single letter is a drive of Windows. */
const ADDRESS = /^[a-z]{2,20}:/i;

/** Returns the path of a model's GGUF file; downloads it first if `model` is an address. */
async function findModelFile(model: string, signal: AbortSignal): Promise<string> {
  if (ADDRESS.test(model)) {
    const { resolveModelFile } = await importEngine();
    await routeGlobalFetch();
    return resolveModelFile(model, { cli: false, signal });
  }
  const path = resolve(model);
  if (existsSync(path)) return path;
  throw new Error(
    `${path} does not exist; name a GGUF file, an address such as hf:user/repository:Q4_K_M, or ${SMOLLM2}`,
  );
}

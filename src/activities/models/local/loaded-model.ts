import type { ChatHistoryItem, GbnfJsonObjectSchema, LlamaChat, LlamaModel } from 'node-llama-cpp' with {
  'resolution-mode': 'import',
};
import type { Usage } from '../../../protocol/call';
import type { Message } from '../model';
import { startEngine, THREADS, type LoadedEngine } from './engine';
import { keepMade } from './keep-made';

/** How one answer is generated. */
export interface Generation {
  /** 0 takes the likeliest token each time. */
  readonly temperature: number;
  readonly maxTokens: number;
  /** A JSON schema that the text is held to, token by token. */
  readonly schema: Readonly<Record<string, unknown>> | null;
  readonly seed: number | null;
  readonly signal: AbortSignal;
}

/** What a model wrote, and why it stopped. */
export interface Generated {
  readonly text: string;
  /** `maxTokens` where it was cut off. */
  readonly stopReason: string;
  readonly usage: Usage;
}

/** A model in memory, ready to answer one request at a time. */
export interface LoadedModel {
  readonly generate: (messages: readonly Message[], how: Generation) => Promise<Generated>;
}

/** The longest context made, in tokens: what SmolLM2 was trained with, and little memory. */
const MAX_CONTEXT_TOKENS = 8192;

/** Loads the engine with the first model that is asked for, and keeps all it loads for the life of this process. */
export function createLoader(): (file: string) => Promise<LoadedModel> {
  const engine = keepMade(startEngine);
  const models = new Map<string, () => Promise<LoadedModel>>();
  return (file) => {
    const model = models.get(file) ?? keepMade(async () => loadModel(await engine(), file));
    models.set(file, model);
    return model();
  };
}

async function loadModel({ code, llama }: LoadedEngine, file: string): Promise<LoadedModel> {
  const model = await llama.loadModel({ modelPath: file });
  const context = await model.createContext({ contextSize: { max: MAX_CONTEXT_TOKENS }, threads: THREADS });
  const sequence = context.getSequence();
  const chat = new code.LlamaChat({ contextSequence: sequence });

  return {
    async generate(messages, { schema, maxTokens, seed, ...how }) {
      const history = messages.map(asHistoryItem);
      const promptTokens = countTokens(chat, model, history);
      const room = context.contextSize - promptTokens;
      // The engine would rather drop the beginning of the prompt, and with it the question.
      if (room <= 0) throw tooLong(promptTokens, context.contextSize);
      // What the context still holds from the request before would save reading and, by rounding, change the answer.
      await sequence.clearHistory();
      const before = sequence.tokenMeter.getState();
      const { response, metadata } = await chat.generateResponse(history, {
        ...how,
        maxTokens: Math.min(maxTokens, room),
        ...(seed !== null && { seed }),
        ...(schema !== null && { grammar: await llama.createGrammarForJsonSchema(asGbnf(schema)) }),
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

function asHistoryItem({ role, text }: Message): ChatHistoryItem {
  return role === 'assistant' ? { type: 'model', response: [text] } : { type: role, text };
}

/** Our schemas are objects within the engine's dialect, whose types only a schema written in place would satisfy. */
function asGbnf(schema: Readonly<Record<string, unknown>>): GbnfJsonObjectSchema {
  return schema as GbnfJsonObjectSchema;
}

/** The prompt as the model is shown it, with the marks of its chat template. */
function countTokens({ chatWrapper }: LlamaChat, model: LlamaModel, history: ChatHistoryItem[]): number {
  const asked: ChatHistoryItem[] = [...history, { type: 'model', response: [] }];
  const { contextText } = chatWrapper.generateContextState({ chatHistory: asked });
  return contextText.tokenize(model.tokenizer).length;
}

function tooLong(promptTokens: number, contextSize: number): Error {
  return new Error(
    `the prompt has ${promptTokens} tokens and the model's context holds ${contextSize}; ` +
      'ask a shorter question, or give the step to a worker with a longer context',
  );
}

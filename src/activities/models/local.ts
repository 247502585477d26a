import { createLoader, type FetchWeights, findModelFile } from './local-engine';
import type { Complete, FinishReason } from './model';
import { chooseSettings } from './settings';

/** What the engine cannot know by itself. */
export interface LocalModelOptions {
  /** Brings the weights that `model: smollm2` stands for onto this machine, and says where they are. */
  readonly fetchSmolLm2: FetchWeights;
}

/**
 * Models that run inside this process, on the CPU, by `node-llama-cpp`. A card's `model` is `smollm2`, a path of a GGUF
 * file, or an address the engine downloads from, e.g. `hf:user/repository:Q4_K_M`.
 *
 * One request runs at a time, since the engine keeps every core it is given busy, and others in this process must still
 * heartbeat. A request that waits or runs ends as soon as its signal is aborted.
 */
export function createCompleteLocal({ fetchSmolLm2 }: LocalModelOptions): Complete {
  const inTurn = createQueue();
  const load = createLoader();
  return (request) =>
    inTurn(request.signal, async () => {
      const { signal, card, messages } = request;
      const { temperature, seed, maxOutputTokens, outputSchema, dropped } = chooseSettings(request, {
        seed: true,
        efforts: [],
      });
      const file = await unlessAborted(signal, findModelFile(card.model, { fetchSmolLm2, signal }));
      const model = await unlessAborted(signal, load(file));
      const { text, stopReason, usage } = await model.generate(messages, {
        temperature: temperature ?? 0,
        maxTokens: maxOutputTokens,
        schema: outputSchema?.schema ?? null,
        seed,
        signal,
      });
      const finish: FinishReason = stopReason === 'maxTokens' ? 'length' : 'stop';
      return { text, finish, refusal: null, usage, reportedNanoUsd: null, dropped };
    });
}

/** Runs work when its turn comes. Work whose signal is aborted before that never starts. */
type InTurn = <T>(signal: AbortSignal, work: () => Promise<T>) => Promise<T>;

/** One thing at a time, in the order of asking. */
export function createQueue(): InTurn {
  let last = Promise.resolve();
  return async (signal, work) => {
    const before = last;
    let leave = (): void => undefined;
    const mine = new Promise<void>((resolve) => (leave = resolve));
    last = before.then(() => mine);
    try {
      await unlessAborted(signal, before);
      return await work();
    } finally {
      leave();
    }
  };
}

/** Waits for something that cannot be stopped, but no longer than until the signal is aborted; then its reason is thrown. */
export function unlessAborted<T>(signal: AbortSignal, awaited: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const giveUp = (): void => {
      reject(signal.reason as Error);
    };
    if (signal.aborted) giveUp();
    signal.addEventListener('abort', giveUp, { once: true });
    void awaited.then(resolve, reject).finally(() => {
      signal.removeEventListener('abort', giveUp);
    });
  });
}

import { createLoader, type FetchWeights, findModelFile } from './local-engine';
import type { Complete } from './model';
import { chooseSettings } from './api-settings';

export interface LocalModelOptions {
  /** Fetches the weights that `model: smollm2` stands for. */
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
      const model = await unlessAborted(signal, load(file, card.model));
      const { text, stopReason, usage } = await model.generate(messages, {
        temperature: temperature ?? 0,
        maxTokens: maxOutputTokens,
        schema: outputSchema?.schema ?? null,
        seed,
        signal,
      });
      const finish = stopReason === 'maxTokens' ? 'length' : 'stop';
      return { text, finish, refusal: null, usage, reportedNanoUsd: null, dropped };
    });
}

/** Runs one thing at a time, in the order of asking. Work whose signal is aborted before its turn never starts. */
export function createQueue(): <T>(signal: AbortSignal, work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (signal, work) => {
    const mine = unlessAborted(signal, last).then(() => work());
    last = Promise.allSettled([last, mine]);
    return mine;
  };
}

/** Waits for work that cannot be stopped, or throws the reason of the signal once that is aborted. */
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

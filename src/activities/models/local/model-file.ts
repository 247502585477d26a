import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { importEngine } from './engine';

/** Brings weights onto this machine, where they are not there already, and returns the path of their GGUF file. */
export type FetchWeights = () => Promise<string>;

/** The one model that has a name of its own. */
const SMOLLM2 = 'smollm2';

/** Two letters at least: a single one is a drive. */
const ADDRESS = /^[a-z]{2,}:/i;

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

import { z } from 'zod';

/** Ids of the models a server offers; null where nothing answers that speaks OpenAI's protocol. */
export type Probe = (baseUrl: string) => Promise<readonly string[] | null>;

/** Where Ollama, llama.cpp, vLLM and LM Studio listen when nobody told them otherwise. */
const USUAL_ADDRESSES = [11434, 8080, 8000, 1234].map((port) => `http://127.0.0.1:${port}/v1`);

/** A server on this machine is either there at once or not at all. */
const PATIENCE_MS = 500;

const modelListSchema = z.object({ data: z.array(z.object({ id: z.string().min(1) })) });

/** A server on this machine that answers, with at least one model. */
export interface LocalServer {
  readonly baseUrl: string;
  readonly models: readonly [string, ...string[]];
}

/** The first of some addresses, else of the usual ones, where a model is offered; null if there is none. */
export async function findLocalServer(
  probe: Probe = listModels,
  addresses: readonly string[] = USUAL_ADDRESSES,
): Promise<LocalServer | null> {
  const answers = await Promise.all(
    addresses.map(async (baseUrl) => ({ baseUrl, ids: await probe(baseUrl) })),
  );
  for (const { baseUrl, ids } of answers) {
    const [first, ...rest] = (ids ?? []).filter(writesText);
    if (first !== undefined) return { baseUrl, models: [first, ...rest] };
  }
  return null;
}

/** Servers list embedding models beside the others; they cannot answer. */
function writesText(model: string): boolean {
  return !/embed|rerank/i.test(model);
}

async function listModels(baseUrl: string): Promise<readonly string[] | null> {
  try {
    const response = await fetch(`${baseUrl}/models`, { signal: AbortSignal.timeout(PATIENCE_MS) });
    const list = modelListSchema.parse(await response.json());
    return list.data.map(({ id }) => id);
  } catch {
    // Nothing listens there, or something else does: either way no server of ours.
    return null;
  }
}

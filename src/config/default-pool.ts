import { z } from 'zod';
import { openFetch } from '../network/fetch';
import { VENDORS } from './cards';
import type { ConfigInput } from './schema';

type WorkerInput = ConfigInput['workers'][number];

/** Vendors' models as of November 2026; the first vendor with a key provides the Conductor. */
const OFFERS = [
  { vendor: 'OpenAI', provider: 'openai', strong: 'gpt-6.1-sol', cheap: 'gpt-6-luna' },
  { vendor: 'Anthropic', provider: 'anthropic', strong: 'claude-sonnet-5-5', cheap: 'claude-haiku-5-5' },
  { vendor: 'Google', provider: 'google', strong: 'gemini-4-argon', cheap: 'gemini-3.8-flash' },
] as const;
type Offer = (typeof OFFERS)[number];

/** Output limits for models that think: thinking tokens count as output, on top of the plan or answer. */
const THINKING_CONDUCTOR_TOKENS = 8192;
const THINKING_WORKER_TOKENS = 16_384;

const MOST_LOCAL_WORKERS = 4;

interface DefaultConfig {
  readonly config: ConfigInput;
  /** Sentence on what is used in place of a file. */
  readonly notice: string;
}

/** Uses the vendors whose keys are in the environment, else a local server, else a small model in this process. */
export async function defaultConfig(env: NodeJS.ProcessEnv, probe?: Probe): Promise<DefaultConfig> {
  const vendors = vendorsOf(env);
  if (vendors !== null) return vendors;
  const server = await findLocalServer(probe);
  return server === null ? smallPool() : serverPool(server);
}

/** Returns a pool of all vendors with a key and a local server, to be written to a file; null if there is neither. */
export async function findPool(env: NodeJS.ProcessEnv, probe?: Probe): Promise<ConfigInput | null> {
  const [vendors, server] = [vendorsOf(env)?.config, await findLocalServer(probe)];
  const served = server === null ? undefined : serverPool(server).config;
  const first = vendors ?? served;
  if (first === undefined) return null;
  // A proxy in front of vendors may offer models under the vendors' names.
  const taken = new Set(vendors?.workers.map(({ id }) => id));
  const others = served?.workers.filter(({ id }) => !taken.has(id)) ?? [];
  return { ...first, workers: vendors === undefined ? others : [...vendors.workers, ...others] };
}

function vendorsOf(env: NodeJS.ProcessEnv): DefaultConfig | null {
  const offers = OFFERS.filter((offer) => (env[keyVariable(offer)] ?? '') !== '');
  return offers[0] === undefined ? null : vendorPool(offers[0], offers);
}

function keyVariable({ provider }: Offer): string {
  return VENDORS[provider].apiKeyEnv;
}

function vendorPool({ provider, strong }: Offer, offers: readonly Offer[]): DefaultConfig {
  const keys = offers.map(keyVariable).join(', ');
  const settings = { effort: 'low', maxOutputTokens: THINKING_WORKER_TOKENS } as const;
  return {
    config: {
      conductor: {
        provider,
        model: strong,
        effort: 'low',
        maxOutputTokens: THINKING_CONDUCTOR_TOKENS,
        describe: 'notes',
      },
      workers: offers.flatMap(({ vendor, provider, strong, cheap }): WorkerInput[] => [
        { id: strong, provider, model: strong, notes: `${vendor}'s strong model`, ...settings },
        { id: cheap, provider, model: cheap, notes: `${vendor}'s fast and cheap model`, ...settings },
      ]),
    },
    notice: `There is no conductor.yaml: using the vendors of ${keys}, with ${strong} as Conductor.`,
  };
}

function serverPool({ baseUrl, models }: LocalServer): DefaultConfig {
  const served = {
    provider: 'openai',
    baseUrl,
    price: 0,
    // Ollama, llama.cpp, vLLM and LM Studio all constrain output to a schema, which small models need.
    capabilities: { jsonSchema: true },
  } as const;
  const named = new Map(models.map((model) => [workerIdOf(model), model]));
  const workers = [...named].map(([id, model]): WorkerInput => ({ ...served, id, model }));
  return {
    config: {
      conductor: { ...served, model: models[0], maxOutputTokens: 2048 },
      workers: workers.slice(0, MOST_LOCAL_WORKERS),
    },
    notice: `There is no conductor.yaml and no vendor's key: using the server at ${baseUrl}, with ${models[0]} as Conductor.`,
  };
}

/** Makes an id of a model's name: `library/model:tag` has characters that ids must not have. */
function workerIdOf(model: string): string {
  return model.replace(/[^A-Za-z0-9._-]+/g, '-').replace(/^[^A-Za-z0-9]+/, '');
}

const SMALL_MODEL = { provider: 'local', model: 'smollm2' } as const;

/** Whether a card is that of the small model which runs without a key, a server or a configuration. */
export function isSmallModel(card: { readonly provider?: string; readonly model?: string }): boolean {
  return card.provider === SMALL_MODEL.provider && card.model === SMALL_MODEL.model;
}

function smallPool(): DefaultConfig {
  const id = 'smollm2';
  const small = SMALL_MODEL;
  // The capability prevents retries of a truncated answer with more room, which would only lengthen it.
  const brief = { maxOutputTokens: 256, capabilities: { maxOutputTokens: 256 } };
  return {
    config: {
      // Wording found by trial: even so small a model answers the simplest questions and seldom spoils its draft.
      conductor: {
        ...small,
        temperature: 0,
        describe: 'notes',
        plan: {
          steps: [
            { worker: id, subtask: 'Answer in one or two short sentences.', sees: [] },
            {
              worker: id,
              subtask: 'Check this answer and give the final answer in one short sentence.',
              sees: [1],
            },
          ],
        },
      },
      workers: [{ id, ...small, ...brief, notes: 'answers simple questions', layout: 'plain' }],
      limits: { steps: 2 },
      recursion: 'never',
    },
    notice:
      'There is no conductor.yaml, no vendor key and no model server, so a very small model (SmolLM2, 135 million ' +
      'parameters) runs inside this process. It shows how a solve works, but its answers are weak and often wrong. ' +
      'It cannot plan, so every question gets the same plan: a draft, then a check. ' +
      `For real answers set one of ${OFFERS.map(keyVariable).join(', ')}, or write a conductor.yaml.`,
  };
}

/** Returns the ids of the models a server offers, or null if nothing there speaks OpenAI's protocol. */
export type Probe = (baseUrl: string) => Promise<readonly string[] | null>;

/** Default addresses of Ollama, llama.cpp, vLLM and LM Studio. */
const USUAL_ADDRESSES = [11434, 8080, 8000, 1234].map((port) => `http://127.0.0.1:${port}/v1`);

/** Probe timeout; a server on this machine answers at once if it runs. */
const PATIENCE_MS = 500;

const modelListSchema = z.object({ data: z.array(z.object({ id: z.string().min(1) })) });

export interface LocalServer {
  readonly baseUrl: string;
  readonly models: readonly [string, ...string[]];
}

/** Returns the first server, at the given or else the usual addresses, that offers a model, or null. */
export async function findLocalServer(
  probe: Probe = listModels,
  addresses: readonly string[] = USUAL_ADDRESSES,
): Promise<LocalServer | null> {
  const answers = await Promise.all(
    addresses.map(async (baseUrl) => ({ baseUrl, ids: await probe(baseUrl) })),
  );
  for (const { baseUrl, ids } of answers) {
    // Servers also list embedding and reranking models, which cannot answer.
    const [first, ...rest] = (ids ?? []).filter((model) => !/embed|rerank/i.test(model));
    if (first !== undefined) return { baseUrl, models: [first, ...rest] };
  }
  return null;
}

async function listModels(baseUrl: string): Promise<readonly string[] | null> {
  try {
    const send = await openFetch();
    const response = await send(`${baseUrl}/models`, { signal: AbortSignal.timeout(PATIENCE_MS) });
    const list = modelListSchema.parse(await response.json());
    return list.data.map(({ id }) => id);
  } catch {
    // Nothing listens there, or it is not a model server.
    return null;
  }
}

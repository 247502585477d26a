import { z } from 'zod';
import type { ConfigInput } from './schema';

type ConductorInput = ConfigInput['conductor'];
type WorkerInput = ConfigInput['workers'][number];

/** What a vendor contributes when its key is there. */
interface Offer {
  readonly vendor: string;
  readonly key: string;
  readonly provider: 'openai' | 'anthropic' | 'google';
  readonly strong: string;
  readonly cheap: string;
}

/** Current models of November 2026, the likeliest Conductor first. */
const OFFERS: readonly Offer[] = [
  {
    vendor: 'OpenAI',
    key: 'OPENAI_API_KEY',
    provider: 'openai',
    strong: 'gpt-6.1-sol',
    cheap: 'gpt-6-luna',
  },
  {
    vendor: 'Anthropic',
    key: 'ANTHROPIC_API_KEY',
    provider: 'anthropic',
    strong: 'claude-sonnet-5-5',
    cheap: 'claude-haiku-5-5',
  },
  {
    vendor: 'Google',
    key: 'GEMINI_API_KEY',
    provider: 'google',
    strong: 'gemini-4-argon',
    cheap: 'gemini-3.8-flash',
  },
];

/** Thinking counts as output, so a Conductor that thinks needs more room than its plan alone. */
const THINKING_CONDUCTOR_TOKENS = 8192;
const THINKING_WORKER_TOKENS = 16_384;

/** A prompt with more workers than this tells a small model nothing it could use. */
const MOST_LOCAL_WORKERS = 4;

/** The configuration of someone who wrote none, and what they should know about it. */
export interface DefaultConfig {
  readonly config: ConfigInput;
  readonly notices: readonly string[];
}

/**
 * Chooses by what is at hand: vendors whose key is in the environment, else a server on this machine, else a small
 * model inside this process.
 */
export async function defaultConfig(env: NodeJS.ProcessEnv, probe?: Probe): Promise<DefaultConfig> {
  const offers = OFFERS.filter(({ key }) => (env[key] ?? '') !== '');
  if (offers[0] !== undefined) return vendorPool(offers[0], offers);
  const server = await findLocalServer(probe);
  return server === null ? smallPool() : serverPool(server);
}

function vendorPool(first: Offer, offers: readonly Offer[]): DefaultConfig {
  const keys = offers.map(({ key }) => key).join(', ');
  return {
    config: {
      conductor: {
        provider: first.provider,
        model: first.strong,
        effort: 'low',
        maxOutputTokens: THINKING_CONDUCTOR_TOKENS,
        describe: 'notes',
      },
      workers: offers.flatMap(({ vendor, provider, strong, cheap }): WorkerInput[] => [
        vendorWorker(provider, strong, `${vendor}'s strong model`),
        vendorWorker(provider, cheap, `${vendor}'s fast and cheap model`),
      ]),
    },
    notices: [`There is no conductor.yaml: using the vendors of ${keys}, with ${first.strong} as Conductor.`],
  };
}

function vendorWorker(provider: Offer['provider'], model: string, notes: string): WorkerInput {
  return { id: model, provider, model, notes, effort: 'low', maxOutputTokens: THINKING_WORKER_TOKENS };
}

function serverPool({ baseUrl, models }: LocalServer): DefaultConfig {
  const served = {
    provider: 'openai',
    baseUrl,
    // Ollama, llama.cpp, vLLM and LM Studio all hold an output to a schema; small models need it.
    capabilities: { jsonSchema: true },
  } as const;
  const conductor: ConductorInput = { ...served, model: models[0], maxOutputTokens: 2048 };
  const named = new Map(models.map((model) => [idOf(model), model]));
  const workers = [...named].map(([id, model]): WorkerInput => ({ ...served, id, model }));
  return {
    config: { conductor, workers: workers.slice(0, MOST_LOCAL_WORKERS) },
    notices: [
      `There is no conductor.yaml and no vendor's key: using the server at ${baseUrl}, with ${models[0]} as Conductor.`,
    ],
  };
}

/** A model's name as a worker's id: `library/model:tag` has characters that ids have not. */
function idOf(model: string): string {
  return model.replace(/[^A-Za-z0-9._-]+/g, '-').replace(/^[^A-Za-z0-9]+/, '');
}

function smallPool(): DefaultConfig {
  const keys = OFFERS.map(({ key }) => key).join(', ');
  return {
    config: {
      // Tried out: with these, so small a model still plans and answers the simplest questions.
      conductor: { provider: 'local', model: 'smollm2', temperature: 0, describe: 'notes' },
      workers: [
        {
          id: 'smollm2',
          provider: 'local',
          model: 'smollm2',
          notes: 'answers simple questions',
          maxOutputTokens: 256,
        },
      ],
      limits: { steps: 2 },
    },
    notices: [
      'There is no conductor.yaml, no vendor key and no model server, so a very small model (SmolLM2, 135 million ' +
        'parameters) runs inside this process. It shows how a solve works, but its answers are weak and often wrong. ' +
        `For real answers set one of ${keys}, or write a conductor.yaml.`,
    ],
  };
}

/** Ids of the models a server offers; null where nothing answers that speaks OpenAI's protocol. */
export type Probe = (baseUrl: string) => Promise<readonly string[] | null>;

/** Where Ollama, llama.cpp, vLLM and LM Studio listen by default. */
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

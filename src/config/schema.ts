import { z } from 'zod';
import { isLoopback } from '../network/proxy';
import { ACCESS_MODES, DESCRIBE_MODES } from '../plan/plan';
import { planSchema } from '../protocol/solve';
import { MAX_CALLS } from '../protocol/messages';
import { limitSchemas } from '../protocol/input';
import { CONDUCTOR_ID, DEFAULT_TASK_QUEUE } from '../protocol/names';
import { callPriceSchema } from '../protocol/tool-cards';
import { someOf } from './errors';
import {
  attributesSchema,
  baseUrlSchema,
  callsPerSecondSchema,
  capabilitiesSchema,
  durationSchema,
  effortSchema,
  keyNameSchema,
  pacing,
  priceSchema,
  proxySchema,
  tokens,
} from './field-schemas';
import {
  checkThinking,
  CONDUCTOR_TOKENS,
  extraBody,
  noThinking,
  sampling,
  thinking,
  WORKER_TOKENS,
} from './model-settings';
import { DEFAULT_STORE, readStoreUrl, STORE_URL_FORMS } from './store-url';
import { cardToolsSchema, checkTools, toolsSchema } from './tools';

/** Non-empty name; Temporal refuses longer names of queues and activities. */
const name = z.string().min(1).max(1000);

const model = {
  model: name,
  maxOutputTokens: tokens.exactOptional(),
  ...sampling,
  effort: effortSchema.exactOptional(),
  thinking: noThinking,
  timeout: durationSchema.default('10m'),
  background: z
    .literal(false, { error: "only OpenAI's Responses API has a background mode; remove it or set false" })
    .exactOptional(),
  capabilities: capabilitiesSchema.default({}),
  price: priceSchema.exactOptional(),
  ...pacing,
};

const remote = {
  ...model,
  baseUrl: baseUrlSchema.exactOptional(),
  /** Proxy that goes before those of the environment. */
  proxy: proxySchema.exactOptional(),
  apiKeyEnv: keyNameSchema.exactOptional(),
  /** Whether responses are streamed. */
  stream: z.boolean().default(true),
  /** Longest pause in a stream: reasoning models may be silent for minutes. */
  idleTimeout: durationSchema.default('5m'),
  extraBody,
};

const openai = {
  provider: z.literal('openai'),
  api: z.enum(['chat', 'responses']).exactOptional(),
  ...remote,
  /** The vendor generates responses without an open request, so that they survive the process that asked for them. */
  background: z.boolean().exactOptional(),
};
const anthropic = { provider: z.literal('anthropic'), ...remote, thinking };
const google = { provider: z.literal('google'), ...remote, thinking };
const local = { provider: z.literal('local'), ...model };

/** Checkpoint trained here; its manifest says how to call it. */
const policy = {
  provider: z.literal('policy'),
  /** Address that serves it, if not the one where it was published. */
  baseUrl: baseUrlSchema.exactOptional(),
  /** Checkpoint to call instead of the promoted one. */
  checkpoint: z
    .string()
    .regex(/^[a-z0-9][a-z0-9-]{0,62}\/[a-z0-9][a-z0-9-]{0,62}$/, {
      error: 'expected the name of a checkpoint, <training run>/<name>, e.g. nightly/000040',
    })
    .exactOptional(),
  /** Absent: its tokens are booked at no cost. */
  price: priceSchema.exactOptional(),
  timeout: durationSchema.default('10m'),
};

const conductor = {
  describe: z.enum(DESCRIBE_MODES).default('names'),
  access: z.enum(ACCESS_MODES).exactOptional(),
  plan: planSchema.exactOptional(),
};

interface OpenAiAddress {
  readonly api?: 'chat' | 'responses';
  readonly baseUrl?: string;
  readonly background?: boolean;
}

/** Returns the configured API, else Responses for OpenAI itself and the widely supported Chat Completions elsewhere. */
export function openAiApiOf({ api, baseUrl }: OpenAiAddress): 'chat' | 'responses' {
  return api ?? (baseUrl === undefined ? 'responses' : 'chat');
}

function checkBackground(settings: OpenAiAddress, context: z.RefinementCtx): void {
  if (settings.background !== true || openAiApiOf(settings) === 'responses') return;
  const verb = settings.api === 'chat' ? 'set' : 'add';
  const message = `Chat Completions has no background mode; ${verb} api: responses or remove it`;
  context.addIssue({ code: 'custom', path: ['background'], message });
}

const member = {
  id: z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]*$/, {
    error: 'expected letters, digits, ".", "_" and "-", the first one a letter or digit',
  }),
  notes: name.exactOptional(),
  /** Ids of workers that stand in for this one, in this order. */
  fallback: z.array(z.string()).default([]),
};
/** Most characters, several pages: they are sent with each request of the worker and stored in every history. */
const MAX_INSTRUCTIONS = 4000;

const worker = {
  ...member,
  layout: z.enum(['tagged', 'chat', 'plain']).default('tagged'),
  instructions: z.string().trim().min(1).max(MAX_INSTRUCTIONS).exactOptional(),
  /** Longest wait that its provider may ask for; for a longer one, a fallback is asked now. Absent: two minutes. */
  maxWait: durationSchema.exactOptional(),
};
/** A model behind an API may call tools. */
const caller = { ...worker, tools: cardToolsSchema.exactOptional() };
const external = {
  ...member,
  type: name,
  taskQueue: name,
  timeout: durationSchema.default('10m'),
  price: callPriceSchema.exactOptional(),
};

const conductorSchema = z.discriminatedUnion('provider', [
  z.strictObject({ ...openai, ...conductor }).superRefine(checkBackground),
  z.strictObject({ ...anthropic, ...conductor }).superRefine(checkThinking('anthropic', CONDUCTOR_TOKENS)),
  z.strictObject({ ...google, ...conductor }).superRefine(checkThinking('google', CONDUCTOR_TOKENS)),
  z.strictObject({ ...local, ...conductor }),
  z.strictObject(policy),
]);

const workerSchema = z.discriminatedUnion('provider', [
  z.strictObject({ ...openai, ...caller }).superRefine(checkBackground),
  z.strictObject({ ...anthropic, ...caller }).superRefine(checkThinking('anthropic', WORKER_TOKENS)),
  z.strictObject({ ...google, ...caller }).superRefine(checkThinking('google', WORKER_TOKENS)),
  z.strictObject({ ...local, ...worker }),
  z.strictObject({ ...external, provider: z.literal('activity') }),
  z.strictObject({ ...external, provider: z.literal('workflow') }),
]);

const verifierSchema = z.discriminatedUnion('provider', [
  z.strictObject(openai).superRefine(checkBackground),
  z.strictObject(anthropic).superRefine(checkThinking('anthropic', WORKER_TOKENS)),
  z.strictObject(google).superRefine(checkThinking('google', WORKER_TOKENS)),
  z.strictObject(local),
]);

const limitsSchema = z.strictObject({
  steps: limitSchemas.steps.default(5),
  wallClock: durationSchema.default('30m'),
  /** How deep the Conductor may call itself; null: only the other limits apply. */
  depth: limitSchemas.depth.default(0),
  costUsd: limitSchemas.costUsd.default(1),
  calls: limitSchemas.calls.default(40),
  tokens: limitSchemas.tokens.default(null),
  /** How long a plan waits for approval if a run asks for it. */
  approval: durationSchema.default('1h'),
  /** Turns of a step in which its worker may call tools. */
  toolTurns: z.int().min(1).max(50).default(10),
  toolCalls: z.int().min(1).max(MAX_CALLS).default(50),
  toolResultBytes: z
    .int()
    .min(1024)
    .max(1024 * 1024)
    .default(64 * 1024),
  /** How long a run waits for the result of a function of its caller. */
  callerWait: durationSchema.default('30m'),
});

const temporalSchema = z
  .strictObject({
    taskQueue: name.default(DEFAULT_TASK_QUEUE),
    namespace: name.default('default'),
    /** Sends model calls to `<taskQueue>-<provider>`, which every worker of this configuration polls as well. */
    queuePerProvider: z.boolean().default(false),
    callsPerSecond: callsPerSecondSchema.exactOptional(),
    heartbeat: durationSchema.default('30s'),
    /** Search attributes that solves are started with; true: all. The namespace must have them. */
    searchAttributes: attributesSchema.exactOptional(),
  })
  .refine(({ queuePerProvider, callsPerSecond }) => callsPerSecond === undefined || queuePerProvider, {
    path: ['callsPerSecond'],
    error:
      'a rate by provider is kept by the queue of that provider; set queuePerProvider: true or remove it',
  });

/** Names that fit into evaluation methods and store keys, and cannot be mistaken for a depth or a checkpoint. */
const conductorNameSchema = z.string().regex(/^[a-z][a-z0-9-]{0,62}$/);
const CONDUCTOR_NAME = 'expected up to 63 lowercase letters, digits and dashes, beginning with a letter';

const sections = z.strictObject({
  conductor: conductorSchema,
  /** Further Conductors, for runs and evaluation methods that name one. */
  conductors: z
    .record(conductorNameSchema, conductorSchema, {
      error: ({ code }) => (code === 'invalid_key' ? CONDUCTOR_NAME : undefined),
    })
    .default({}),
  workers: z
    .array(workerSchema)
    .min(1, { error: 'expected at least one worker' })
    .superRefine(checkWorkers('workers')),
  /** Workers that no plan may name: evaluations compare the Conductor with them. */
  baselines: z.array(workerSchema).default([]).superRefine(checkWorkers('baselines')),
  /** Tools that workers may call, by name: none unless a card lists them. */
  tools: toolsSchema.default({}),
  limits: limitsSchema.prefault({}),
  recursion: z.enum(['review', 'worker', 'both', 'never']).default('both'),
  temporal: temporalSchema.prefault({}),
  gateway: z
    .strictObject({
      /** Id of the worker that answers, without a plan, what coding agents ask beside their users: titles. */
      side: name.exactOptional(),
    })
    .default({}),
  store: z
    .string()
    .refine((url) => readStoreUrl(url) !== null, { error: `expected ${STORE_URL_FORMS}` })
    .default(DEFAULT_STORE),
  /** Encrypts everything sent to Temporal or stored, with the keys in this variable. */
  encryption: z
    .strictObject({
      keyEnv: keyNameSchema,
      /** Refuses plaintext instead of passing it on. */
      strict: z.boolean().exactOptional(),
      /** Lets a worker mount the user's own codec instead of ours, unchecked. */
      codec: z.literal('own').exactOptional(),
    })
    .exactOptional(),
  telemetry: z
    .strictObject({
      /** Whether spans carry prompts and answers, in plain text; absent: the environment decides. */
      content: z.enum(['none', 'spans']).exactOptional(),
    })
    .default({}),
  /** Model that judges answers to questions with `verify: true` if the grader's rules reject them. */
  verifier: verifierSchema.exactOptional(),
  /** Training settings, checked by `temporal-conductor/training` and not here. */
  training: z.unknown().optional(),
});

/** Content of a `conductor.yaml`. Unsupported settings are refused or reported as a notice, never ignored. */
export const configSchema = sections.superRefine((config, context) => {
  const { workers, baselines, gateway } = config;
  checkTools(config, context);
  const ids = workers.map(({ id }) => id);
  if (gateway.side !== undefined && !ids.includes(gateway.side)) {
    const message = `expected one of ${someOf(ids)}`;
    context.addIssue({ code: 'custom', path: ['gateway', 'side'], message });
  }
  for (const [path, card] of cardsIn(config)) {
    if (!('proxy' in card) || card.baseUrl === undefined || !isLoopback(new URL(card.baseUrl))) continue;
    const message = 'its baseUrl is an address of this machine, which no proxy leads to; remove it';
    context.addIssue({ code: 'custom', path: [...path, 'proxy'], message });
  }
  for (const [index, { id }] of baselines.entries()) {
    if (workers.every((worker) => worker.id !== id)) continue;
    const message = 'a worker of the pool has this id already; choose another';
    context.addIssue({ code: 'custom', path: ['baselines', index, 'id'], message });
  }
});

type CardConfig = Config['conductor'] | Config['workers'][number] | NonNullable<Config['verifier']>;

/** Returns all cards with their places. */
function cardsIn({ conductor, conductors, workers, baselines, verifier }: z.output<typeof sections>) {
  const listed = (list: 'workers' | 'baselines', cards: readonly CardConfig[]) =>
    cards.map((card, index): [PropertyKey[], CardConfig] => [[list, index], card]);
  const named = { conductor, ...(verifier && { verifier }) };
  return [
    ...Object.entries(named).map(([name, card]): [PropertyKey[], CardConfig] => [[name], card]),
    ...Object.entries(conductors).map(([name, card]): [PropertyKey[], CardConfig] => [
      ['conductors', name],
      card,
    ]),
    ...listed('workers', workers),
    ...listed('baselines', baselines),
  ];
}

/** Configuration as a program or a person writes it, without defaults. */
export type ConfigInput = z.input<typeof configSchema>;

/** Valid configuration with its defaults; settings that depend on a model or vendor are not resolved yet. */
export type Config = z.output<typeof sections>;
export type ConductorConfig = Config['conductor'];
export type WorkerConfig = Config['workers'][number];
export type ModelConfig = Extract<ConductorConfig | WorkerConfig, { readonly model: string }>;

/** Checks workers against each other: ids must differ, and every fallback must be another worker. */
function checkWorkers(list: 'workers' | 'baselines') {
  return (workers: readonly z.output<typeof workerSchema>[], context: z.RefinementCtx): void => {
    const report = (path: readonly PropertyKey[], message: string): void => {
      context.addIssue({ code: 'custom', path: [...path], message });
    };
    const ids = workers.map(({ id }) => id);
    for (const [index, { id, fallback }] of workers.entries()) {
      const earlier = ids.indexOf(id);
      // Traces use this id for the Conductor's own calls.
      if (id === CONDUCTOR_ID) report([index, 'id'], 'this id is reserved for the Conductor; choose another');
      if (earlier < index) report([index, 'id'], `${list}[${earlier}] has this id already; choose another`);
      for (const [position, other] of fallback.entries()) {
        const place = [index, 'fallback', position];
        if (other === id) report(place, 'a worker cannot stand in for itself; remove it');
        else if (!ids.includes(other)) report(place, `expected one of ${someOf([...new Set(ids)])}`);
      }
    }
  };
}

import { z } from 'zod';
import { MAX_CALLS, MAX_COST_USD } from '../protocol/messages';
import { DEFAULT_TASK_QUEUE } from '../protocol/names';
import { checkBackground } from './openai-api';
import {
  baseUrlSchema,
  callsPerSecondSchema,
  capabilitiesSchema,
  checkQueues,
  durationSchema,
  effortSchema,
  keyNameSchema,
  pacing,
  priceSchema,
} from './settings';
import { readStoreUrl, STORE_URL_FORMS } from './store-url';

const name = z.string().min(1);
const tokens = z.int().positive();

/** What every model is set up by, whichever vendor serves it. */
const model = {
  model: name,
  maxOutputTokens: tokens.exactOptional(),
  temperature: z.number().min(0).max(2).exactOptional(),
  effort: effortSchema.exactOptional(),
  /** How long one request may take. */
  timeout: durationSchema.default('10m'),
  background: z
    .literal(false, { error: "only OpenAI's Responses API has a background mode; remove it or set false" })
    .exactOptional(),
  capabilities: capabilitiesSchema.default({}),
  price: priceSchema.exactOptional(),
  ...pacing,
};

const remote = { ...model, baseUrl: baseUrlSchema.exactOptional(), apiKeyEnv: keyNameSchema.exactOptional() };

const openai = {
  provider: z.literal('openai'),
  api: z.enum(['chat', 'responses']).exactOptional(),
  ...remote,
  /** Answers are written at the vendor while no one waits, and survive the process that asked for them. */
  background: z.boolean().exactOptional(),
};
const anthropic = { provider: z.literal('anthropic'), ...remote };
const google = { provider: z.literal('google'), ...remote };
const local = { provider: z.literal('local'), ...model };

/** A checkpoint trained here: how it is asked is the affair of its manifest. */
const policy = {
  provider: z.literal('policy'),
  /** Where it is served, instead of where it was published to. */
  baseUrl: baseUrlSchema.exactOptional(),
  /** The one to ask, instead of whichever is promoted. */
  checkpoint: z
    .string()
    .regex(/^[a-z0-9][a-z0-9-]{0,62}\/[a-z0-9][a-z0-9-]{0,62}$/, {
      error: 'expected the name of a checkpoint, <training run>/<name>, e.g. nightly/000040',
    })
    .exactOptional(),
  timeout: durationSchema.default('10m'),
};

const conductor = { describe: z.enum(['ordinals', 'names', 'notes']).default('names') };

const member = {
  id: z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]*$/, {
    error: 'expected letters, digits, ".", "_" and "-", the first one a letter or digit',
  }),
  notes: name.exactOptional(),
  /** Ids of workers that stand in, in this order, when this one has failed for good. */
  fallback: z.array(z.string()).default([]),
};
const worker = { ...member, layout: z.enum(['tagged', 'chat']).default('tagged') };
const external = { ...member, type: name, taskQueue: name, timeout: durationSchema.default('10m') };

const conductorSchema = z.discriminatedUnion('provider', [
  z.strictObject({ ...openai, ...conductor }).superRefine(checkBackground),
  z.strictObject({ ...anthropic, ...conductor }),
  z.strictObject({ ...google, ...conductor }),
  z.strictObject({ ...local, ...conductor }),
  z.strictObject(policy),
]);

const workerSchema = z.discriminatedUnion('provider', [
  z.strictObject({ ...openai, ...worker }).superRefine(checkBackground),
  z.strictObject({ ...anthropic, ...worker }),
  z.strictObject({ ...google, ...worker }),
  z.strictObject({ ...local, ...worker }),
  z.strictObject({ ...external, provider: z.literal('activity') }),
  z.strictObject({ ...external, provider: z.literal('workflow') }),
]);

const limitsSchema = z.strictObject({
  steps: z.int().min(1).default(5),
  wallClock: durationSchema.default('30m'),
  /** How deep the Conductor may call itself; null: no limit but the others. */
  depth: z.int().min(0).nullable().default(0),
  costUsd: z.number().min(0).max(MAX_COST_USD).nullable().default(1),
  calls: z.int().min(1).max(MAX_CALLS).default(40),
  tokens: z.int().min(1).nullable().default(null),
  /** How long a plan waits for approval where a run asks for one. */
  approval: durationSchema.default('1h'),
});

const temporalSchema = z
  .strictObject({
    taskQueue: name.default(DEFAULT_TASK_QUEUE),
    namespace: name.default('default'),
    /** Calls of a model go to `<taskQueue>-<provider>`, which every worker of this configuration polls too. */
    queuePerProvider: z.boolean().default(false),
    callsPerSecond: callsPerSecondSchema.exactOptional(),
    /** How soon a lost worker process is noticed. */
    heartbeat: durationSchema.default('30s'),
  })
  .superRefine(checkQueues);

/**
 * The content of a `conductor.yaml`.
 *
 * Everything the product will know is read, so that one file serves each version; what this version cannot do is
 * either refused here or told as a notice, never passed over.
 */
export const configSchema = z.strictObject({
  conductor: conductorSchema,
  workers: z.array(workerSchema).min(1, { error: 'expected at least one worker' }).superRefine(checkWorkers),
  limits: limitsSchema.prefault({}),
  recursion: z.enum(['review', 'worker', 'both', 'never']).default('both'),
  temporal: temporalSchema.prefault({}),
  store: z
    .string()
    .refine((url) => readStoreUrl(url) !== null, { error: `expected ${STORE_URL_FORMS}` })
    .default('file:.conductor/store'),
  /** What goes to Temporal and into the store is encrypted with the keys in this variable. */
  encryption: z
    .strictObject({
      keyEnv: keyNameSchema,
      /** What is not encrypted is refused, not passed on. */
      strict: z.boolean().exactOptional(),
      /** A worker may mount a codec of its user's own in the place of ours, unchecked. */
      codec: z.literal('own').exactOptional(),
    })
    .exactOptional(),
  /** How a Conductor is trained: read by `temporal-conductor/training`, and passed on unread here. */
  training: z.unknown().optional(),
});

/** A configuration as a program or a person writes it, defaults left out. */
export type ConfigInput = z.input<typeof configSchema>;

/** A configuration that was checked, with its defaults; still free of what depends on a model or vendor. */
export type Config = z.output<typeof configSchema>;
export type ConductorConfig = Config['conductor'];
export type WorkerConfig = Config['workers'][number];
/** Of the members of a pool that are asked by name, all but a checkpoint. */
export type ModelConfig = Extract<ConductorConfig | WorkerConfig, { readonly model: string }>;

/** The part of a worker that says how it stands to the others. */
interface Member {
  readonly id: string;
  readonly fallback: readonly string[];
}

/** In traces the Conductor's own calls carry this id. */
const RESERVED_ID = 'conductor';

/** Checks what no worker can be judged by alone: that ids differ, and that every fallback is another worker. */
function checkWorkers(workers: readonly Member[], context: z.RefinementCtx): void {
  const indexById = new Map<string, number>();
  workers.forEach(({ id }, index) => {
    const earlier = indexById.get(id);
    if (id === RESERVED_ID) report(index, ['id'], 'this id is reserved for the Conductor; choose another');
    if (earlier !== undefined)
      report(index, ['id'], `workers[${earlier}] has this id already; choose another`);
    indexById.set(id, earlier ?? index);
  });
  workers.forEach(({ id, fallback }, index) => {
    fallback.forEach((other, position) => {
      if (other === id)
        report(index, ['fallback', position], 'a worker cannot stand in for itself; remove it');
      else if (!indexById.has(other)) {
        report(index, ['fallback', position], `expected one of ${[...indexById.keys()].join(', ')}`);
      }
    });
  });

  function report(index: number, path: readonly PropertyKey[], message: string): void {
    context.addIssue({ code: 'custom', path: [index, ...path], message });
  }
}

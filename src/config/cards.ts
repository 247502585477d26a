import type { Access, Plan } from '../plan/plan';
import type {
  Capabilities,
  ConductorCard,
  ExternalCard,
  ModelCard,
  Price,
  RunWorker,
} from '../protocol/cards';
import capabilityTable from './capabilities.json';
import priceTable from './prices.json';
import { ConfigError } from './errors';
import { CONDUCTOR_TOKENS, WORKER_TOKENS } from './model-settings';
import { durationMs } from './duration';
import {
  type Config,
  type ConductorConfig,
  type ModelConfig,
  openAiApiOf,
  type WorkerConfig,
} from './schema';

/** Low, so that the same question gets nearly the same plan. */
const CONDUCTOR_TEMPERATURE = 0.2;

/** Returns the Conductor's card with every default filled in; its price is that of `day`. */
export function resolveConductor(config: ConductorConfig, day: Date): ConductorCard {
  if (config.provider === 'policy') return policyCard(config);
  const settings = callSettings(config, day);
  // Omits a default that the model would refuse; only an explicit setting is reported as dropped.
  const isFixed = !settings.capabilities.sampling || (settings.provider === 'anthropic' && settings.thinking);
  const usual = isFixed ? null : CONDUCTOR_TEMPERATURE;
  return {
    ...settings,
    temperature: config.temperature ?? usual,
    maxOutputTokens: config.maxOutputTokens ?? CONDUCTOR_TOKENS,
    describe: config.describe,
    access: config.access ?? usualAccess(settings),
    plan: config.plan && countedFromZero(config.plan),
  };
}

/**
 * Returns the default access mode. Lists let a step see only what it needs, but the grammar that constrains a model in
 * this process cannot limit them to earlier steps.
 */
function usualAccess({ provider, capabilities }: Pick<ConductorCard, 'provider' | 'capabilities'>): Access {
  return provider === 'local' && capabilities.jsonSchema ? 'binary' : 'any';
}

/** People count steps from 1, programs from 0. */
function countedFromZero({ steps }: Plan): Plan {
  return { steps: steps.map((step) => ({ ...step, sees: step.sees.map((seen) => seen - 1) })) };
}

/** Returns a worker's card with every default filled in; its price is that of `day`. */
export function resolveWorker(config: WorkerConfig, day: Date): ModelCard | ExternalCard {
  const { id, notes = null, fallback } = config;
  if (config.provider === 'activity' || config.provider === 'workflow') {
    const { provider: kind, type, taskQueue, timeout, price } = config;
    return { kind, id, type, taskQueue, timeoutMs: durationMs(timeout), notes, fallback, price };
  }
  return {
    kind: 'model',
    id,
    ...callSettings(config, day),
    temperature: config.temperature ?? null,
    maxOutputTokens: config.maxOutputTokens ?? WORKER_TOKENS,
    notes,
    fallback,
    layout: config.layout,
    instructions: config.instructions,
    ...('tools' in config && config.tools !== undefined && { tools: config.tools }),
    ...(config.maxWait !== undefined && { maxWaitMs: durationMs(config.maxWait) }),
  };
}

/** Returns the cards of workers outside the pool, which only evaluations call. */
export function resolveBaselines({ baselines }: Pick<Config, 'baselines'>, day = new Date()): RunWorker[] {
  return baselines.map((baseline) => resolveWorker(baseline, day));
}

/** Worker id of the verifier's calls in the ledger. */
const VERIFIER_ID = 'verifier';

/**
 * Returns the card of the model that judges answers, or null if none is configured.
 * @throws ConfigError if a worker or baseline has its id or is the same model, which would favour its own answers
 */
export function resolveVerifier(
  { verifier, workers, baselines }: Config,
  day = new Date(),
): ModelCard | null {
  if (verifier === undefined) return null;
  const card = resolveWorker({ ...verifier, id: VERIFIER_ID, fallback: [], layout: 'plain' }, day);
  if (card.kind !== 'model') return null;
  for (const worker of [...workers, ...baselines].map((each) => resolveWorker(each, day))) {
    if (worker.id === VERIFIER_ID) {
      throw new ConfigError(
        `a worker has the id ${VERIFIER_ID}, and there is a "verifier:": give it another id`,
      );
    }
    const isSame =
      worker.kind === 'model' && worker.provider === card.provider && worker.model === card.model;
    if (isSame && worker.baseUrl === card.baseUrl) {
      throw new ConfigError(
        `verifier is ${card.provider} ${card.model}, which is worker ${worker.id}: name a model from outside the pool, ` +
          'since a model favours its own answers',
      );
    }
  }
  return card;
}

function callSettings(
  config: ModelConfig,
  day: Date,
): Omit<ConductorCard, 'temperature' | 'maxOutputTokens' | 'describe' | 'access'> {
  const { provider, model, effort = null, topP, topK, presencePenalty, thinking, timeout } = config;
  return {
    provider,
    model,
    ...addressOf(config),
    ...(config.background === true && { background: true }),
    effort,
    topP,
    topK,
    presencePenalty,
    thinking: thinking === 'off' ? 0 : thinking,
    extraBody: 'extraBody' in config ? config.extraBody : undefined,
    timeoutMs: durationMs(timeout),
    idleTimeoutMs: 'stream' in config && config.stream ? durationMs(config.idleTimeout) : undefined,
    capabilities: capabilitiesOf(config),
    ...priceOf(config, day),
  };
}

/** Returns a model's address, its proxy and key variable: the vendor's for its own endpoint, else only a configured one. */
function addressOf(config: ModelConfig): Pick<ConductorCard, 'api' | 'baseUrl' | 'proxy' | 'apiKeyEnv'> {
  if (config.provider === 'local') return { api: null, baseUrl: null, apiKeyEnv: null };
  const { provider, baseUrl = null, proxy } = config;
  const apiKeyEnv = config.apiKeyEnv ?? (baseUrl === null ? VENDORS[provider].apiKeyEnv : null);
  return { api: config.provider === 'openai' ? openAiApiOf(config) : null, baseUrl, proxy, apiKeyEnv };
}

/** Known models by prefix, longest (most specific) first. */
const KNOWN = capabilityTable.models
  .flatMap(({ provider, prefixes, ...capabilities }) =>
    prefixes.map((prefix) => ({ provider, prefix, capabilities })),
  )
  .sort((a, b) => b.prefix.length - a.prefix.length);

/**
 * Returns the capabilities of a model. An unknown model of a vendor is treated as a newer one, which refuses sampling
 * settings; one of another server as an open model, which accepts them but may not support JSON schemas.
 */
function capabilitiesOf({ provider, model, capabilities, ...settings }: ModelConfig): Capabilities {
  const { vendor, compatibleServer } = capabilityTable.otherModels;
  const other = 'baseUrl' in settings ? compatibleServer : vendor;
  const known = KNOWN.find((row) => row.provider === provider && model.startsWith(row.prefix));
  return { ...(known?.capabilities ?? other), ...capabilities };
}

/** Returns a checkpoint's card as configured; its manifest fills in the rest when a run is resolved. */
function policyCard(config: Extract<ConductorConfig, { readonly provider: 'policy' }>): ConductorCard {
  const { baseUrl = null, checkpoint, timeout, price } = config;
  return {
    provider: 'policy',
    model: checkpoint ?? 'the checkpoint that serves',
    api: null,
    baseUrl,
    apiKeyEnv: null,
    maxOutputTokens: CONDUCTOR_TOKENS,
    temperature: null,
    effort: null,
    timeoutMs: durationMs(timeout),
    capabilities: { sampling: true, effort: [], jsonSchema: false, maxOutputTokens: null },
    price: price ?? { input: 0, output: 0 },
    priceVersion: price === undefined ? 'local' : 'card',
    describe: 'ordinals',
    access: 'binary',
    checkpoint,
  };
}

/** Prices by endpoint and model; `from` (`YYYY-MM-DD`) is absent if a price was valid when the table was made. */
type PriceTable = Readonly<
  Record<string, Readonly<Record<string, readonly { from?: string; price: Price }[]>>>
>;
const BUNDLED: PriceTable = priceTable.endpoints;

/**
 * Returns the price of a model and its source, both null if unknown: the card's own price, else zero for a local model,
 * else the bundled price of exactly this model at exactly this endpoint on this day.
 */
export function priceOf(config: ModelConfig, day: Date): Pick<ModelCard, 'price' | 'priceVersion'> {
  if (config.price !== undefined) return { price: config.price, priceVersion: 'card' };
  if (config.provider === 'local') return { price: { input: 0, output: 0 }, priceVersion: 'local' };
  const { origin } = new URL(config.baseUrl ?? VENDORS[config.provider].endpoint);
  const rows = BUNDLED[origin]?.[config.model] ?? [];
  const today = day.toISOString().slice(0, 10);
  const row = rows.findLast(({ from = today }) => from <= today);
  return row ? { price: row.price, priceVersion: priceTable.version } : { price: null, priceVersion: null };
}

/** Each vendor's endpoint, and the variable from which the vendor's own tools read the key. */
export const VENDORS = {
  openai: { endpoint: 'https://api.openai.com', apiKeyEnv: 'OPENAI_API_KEY' },
  anthropic: { endpoint: 'https://api.anthropic.com', apiKeyEnv: 'ANTHROPIC_API_KEY' },
  google: { endpoint: 'https://generativelanguage.googleapis.com', apiKeyEnv: 'GEMINI_API_KEY' },
} as const;

/** Names a card in messages: `the Conductor (openai my-model)`, `worker beta (workflow research)`. */
export function nameOfCard(card: ConductorCard | RunWorker): string {
  const what = 'provider' in card ? `${card.provider} ${card.model}` : `${card.kind} ${card.type}`;
  return 'id' in card ? `worker ${card.id} (${what})` : `the Conductor (${what})`;
}

/** Returns every Conductor of a configuration with its place there: `conductor`, or `conductors.NAME` for others. */
export function conductorsOf({ conductor, conductors }: Config): [place: string, ConductorConfig][] {
  const named = Object.entries(conductors).map(([name, each]): [string, ConductorConfig] => {
    return [`conductors.${name}`, each];
  });
  return [['conductor', conductor], ...named];
}

/** Names a Conductor in command output: `openai gpt-6-sol`, `policy nightly/000040`. */
export function describeConductor(conductor: ConductorConfig): string {
  return conductor.provider === 'policy'
    ? `policy ${conductor.checkpoint ?? '(the checkpoint that serves)'}`
    : `${conductor.provider} ${conductor.model}`;
}

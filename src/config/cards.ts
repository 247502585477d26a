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

/** Low, so that the same question gets much the same plan. */
const CONDUCTOR_TEMPERATURE = 0.2;

/** The Conductor's card, every default filled in; `day` is when its price must hold. */
export function resolveConductor(config: ConductorConfig, day: Date): ConductorCard {
  if (config.provider === 'policy') return policyCard(config);
  const settings = settingsOf(config, day);
  // A default that the model would refuse is left out silently; only an explicit setting is reported as dropped.
  const isFixed = !settings.capabilities.sampling || (settings.provider === 'anthropic' && settings.thinking);
  const usual = isFixed ? null : CONDUCTOR_TEMPERATURE;
  return {
    ...settings,
    temperature: config.temperature ?? usual,
    maxOutputTokens: config.maxOutputTokens ?? CONDUCTOR_TOKENS,
    describe: config.describe,
    access: config.access ?? usualAccess(settings),
    ...(config.plan !== undefined && { plan: countedFromZero(config.plan) }),
  };
}

/**
 * Lists let a step see what it needs and no more. A grammar, which a model in the process is held to, cannot keep them to
 * earlier steps.
 */
function usualAccess({ provider, capabilities }: Pick<ConductorCard, 'provider' | 'capabilities'>): Access {
  return provider === 'local' && capabilities.jsonSchema ? 'binary' : 'any';
}

/** People count steps from 1, programs from 0. */
function countedFromZero({ steps }: Plan): Plan {
  return { steps: steps.map((step) => ({ ...step, sees: step.sees.map((seen) => seen - 1) })) };
}

/** A worker's card, every default filled in; `day` is when its price must hold. */
export function resolveWorker(config: WorkerConfig, day: Date): ModelCard | ExternalCard {
  const { id, notes = null, fallback } = config;
  if (config.provider === 'activity' || config.provider === 'workflow') {
    const { provider: kind, type, taskQueue, timeout, price } = config;
    const card = { kind, id, type, taskQueue, timeoutMs: durationMs(timeout), notes, fallback };
    return { ...card, ...(price !== undefined && { price }) };
  }
  return {
    kind: 'model',
    id,
    ...settingsOf(config, day),
    temperature: config.temperature ?? null,
    maxOutputTokens: config.maxOutputTokens ?? WORKER_TOKENS,
    notes,
    fallback,
    layout: config.layout,
    ...(config.instructions !== undefined && { instructions: config.instructions }),
  };
}

/** Cards of the workers that only evaluations ask, outside the pool. */
export function resolveBaselines({ baselines }: Pick<Config, 'baselines'>, day = new Date()): RunWorker[] {
  return baselines.map((baseline) => resolveWorker(baseline, day));
}

/** Its calls carry this id in the ledger. */
const VERIFIER_ID = 'verifier';

/**
 * The card of the model that judges answers; null where none is configured.
 * @throws ConfigError where it is a worker, too: a model takes its own words for right
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
          'since a model takes its own words for right',
      );
    }
  }
  return card;
}

function settingsOf(
  config: ModelConfig,
  day: Date,
): Omit<ConductorCard, 'temperature' | 'maxOutputTokens' | 'describe' | 'access'> {
  const { provider, model, effort = null, timeout } = config;
  return {
    provider,
    model,
    ...addressOf(config),
    ...(config.background === true && { background: true }),
    effort,
    ...requestFieldsOf(config),
    timeoutMs: durationMs(timeout),
    ...('stream' in config && config.stream && { idleTimeoutMs: durationMs(config.idleTimeout) }),
    capabilities: capabilitiesOf(config),
    ...priceOf(config, day),
  };
}

/** What requests have only where it is written. */
function requestFieldsOf(
  config: ModelConfig,
): Pick<ConductorCard, 'topP' | 'topK' | 'presencePenalty' | 'thinking' | 'extraBody'> {
  const { topP, topK, presencePenalty, thinking } = config;
  return {
    ...(topP !== undefined && { topP }),
    ...(topK !== undefined && { topK }),
    ...(presencePenalty !== undefined && { presencePenalty }),
    ...(thinking !== undefined && { thinking: thinking === 'off' ? 0 : thinking }),
    ...('extraBody' in config && { extraBody: config.extraBody }),
  };
}

/** A vendor's own endpoint wants the vendor's key; whether another server wants one, only the configuration knows. */
function addressOf(config: ModelConfig): Pick<ConductorCard, 'api' | 'baseUrl' | 'apiKeyEnv'> {
  if (config.provider === 'local') return { api: null, baseUrl: null, apiKeyEnv: null };
  const { provider, baseUrl = null } = config;
  const apiKeyEnv = config.apiKeyEnv ?? (baseUrl === null ? VENDORS[provider].apiKeyEnv : null);
  return { api: config.provider === 'openai' ? openAiApiOf(config) : null, baseUrl, apiKeyEnv };
}

/** The longest prefix, the most specific, comes first. */
const KNOWN = capabilityTable.models
  .flatMap(({ provider, prefixes, ...capabilities }) =>
    prefixes.map((prefix) => ({ provider, prefix, capabilities })),
  )
  .sort((a, b) => b.prefix.length - a.prefix.length);

/**
 * An unknown model of a vendor is taken for a newer one, which refuses sampling settings; an unknown model of another
 * server for an open one, which takes them and may know no schema.
 */
function capabilitiesOf({ provider, model, capabilities, ...settings }: ModelConfig): Capabilities {
  const { vendor, compatibleServer } = capabilityTable.otherModels;
  const other = 'baseUrl' in settings ? compatibleServer : vendor;
  const known = KNOWN.find((row) => row.provider === provider && model.startsWith(row.prefix));
  return { ...(known?.capabilities ?? other), ...capabilities };
}

/** A checkpoint's card as far as the configuration tells; its manifest fills in the rest when a run is resolved. */
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
    ...(checkpoint !== undefined && { checkpoint }),
  };
}

/** `from` (`YYYY-MM-DD`) is absent where a price held when the table was made. */
type PriceTable = Readonly<
  Record<string, Readonly<Record<string, readonly { from?: string; price: Price }[]>>>
>;
const BUNDLED: PriceTable = priceTable.endpoints;

/**
 * Price of a model and its source, both null if unknown: the card's own price, else nothing for a
 * local model, else the bundled price of exactly this model at exactly this endpoint on this day.
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

/** Each vendor's own endpoint, and the variable its own tools read the key from. */
export const VENDORS = {
  openai: { endpoint: 'https://api.openai.com', apiKeyEnv: 'OPENAI_API_KEY' },
  anthropic: { endpoint: 'https://api.anthropic.com', apiKeyEnv: 'ANTHROPIC_API_KEY' },
  google: { endpoint: 'https://generativelanguage.googleapis.com', apiKeyEnv: 'GEMINI_API_KEY' },
} as const;

/** Name in messages: `the Conductor (openai my-model)`, `worker beta (workflow research)`. */
export function nameOf(card: ConductorCard | RunWorker): string {
  const what = 'provider' in card ? `${card.provider} ${card.model}` : `${card.kind} ${card.type}`;
  return 'id' in card ? `worker ${card.id} (${what})` : `the Conductor (${what})`;
}

/** Every Conductor of a configuration, by its place there: `conductor`, and `conductors.NAME` for each further one. */
export function conductorsOf({ conductor, conductors }: Config): [place: string, ConductorConfig][] {
  const named = Object.entries(conductors).map(([name, each]): [string, ConductorConfig] => {
    return [`conductors.${name}`, each];
  });
  return [['conductor', conductor], ...named];
}

/** Names the writer of plans for commands: `openai gpt-6-sol`, `policy nightly/000040`. */
export function describeConductor(conductor: ConductorConfig): string {
  return conductor.provider === 'policy'
    ? `policy ${conductor.checkpoint ?? '(the checkpoint that serves)'}`
    : `${conductor.provider} ${conductor.model}`;
}

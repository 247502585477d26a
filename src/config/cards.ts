import type { Capabilities, ConductorCard, ExternalCard, ModelCard } from '../protocol/cards';
import table from './capabilities.json';
import { openAiApiOf } from './openai-api';
import { priceOf, VENDORS } from './prices';
import type { ConductorConfig, ModelConfig, WorkerConfig } from './schema';
import { durationMs } from './duration';

/** Plans are short; workers may have more to say. */
const CONDUCTOR_TOKENS = 1024;
const WORKER_TOKENS = 4096;

/** Low, so that the same question gets much the same plan. */
const CONDUCTOR_TEMPERATURE = 0.2;

/** The Conductor's card, every default filled in; `day` is when its price must hold. */
export function resolveConductor(config: ConductorConfig, day: Date): ConductorCard {
  if (config.provider === 'policy') return policyCard(config);
  const settings = settingsOf(config, day);
  // A default that the model would refuse is left away quietly; only what somebody asked for is told as dropped.
  const usual = settings.capabilities.sampling ? CONDUCTOR_TEMPERATURE : null;
  return {
    ...settings,
    temperature: config.temperature ?? usual,
    maxOutputTokens: config.maxOutputTokens ?? CONDUCTOR_TOKENS,
    describe: config.describe,
  };
}

/** A worker's card, every default filled in; `day` is when its price must hold. */
export function resolveWorker(config: WorkerConfig, day: Date): ModelCard | ExternalCard {
  const { id, notes = null, fallback } = config;
  if (config.provider === 'activity' || config.provider === 'workflow') {
    const { provider: kind, type, taskQueue, timeout } = config;
    return { kind, id, type, taskQueue, timeoutMs: durationMs(timeout), notes, fallback };
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
  };
}

function settingsOf(
  config: ModelConfig,
  day: Date,
): Omit<ConductorCard, 'temperature' | 'maxOutputTokens' | 'describe'> {
  const { provider, model, effort = null, timeout } = config;
  return {
    provider,
    model,
    ...addressOf(config),
    ...(config.background === true && { background: true }),
    effort,
    timeoutMs: durationMs(timeout),
    capabilities: capabilitiesOf(config),
    ...priceOf(config, day),
  };
}

/** A vendor's own endpoint wants the vendor's key; of another server only its configuration can say so. */
function addressOf(config: ModelConfig): Pick<ConductorCard, 'api' | 'baseUrl' | 'apiKeyEnv'> {
  if (config.provider === 'local') return { api: null, baseUrl: null, apiKeyEnv: null };
  const { provider, baseUrl = null } = config;
  const apiKeyEnv = config.apiKeyEnv ?? (baseUrl === null ? VENDORS[provider].apiKeyEnv : null);
  if (config.provider !== 'openai') return { api: null, baseUrl, apiKeyEnv };
  return { api: openAiApiOf(config), baseUrl, apiKeyEnv };
}

/** Bundled capabilities by provider and the beginning of a model's name, longest beginning first: it tells most. */
const KNOWN = table.models
  .flatMap(({ provider, prefixes, ...capabilities }) =>
    prefixes.map((prefix) => ({ provider, prefix, capabilities })),
  )
  .sort((a, b) => b.prefix.length - a.prefix.length);

/**
 * What a model can be asked for: the card's own word, else the bundled table's.
 *
 * An unknown model of a vendor is taken for a newer one, which refuses sampling settings; an unknown model of another
 * server for an open one, which takes them and may know no schema.
 */
function capabilitiesOf({ provider, model, capabilities, ...settings }: ModelConfig): Capabilities {
  const { vendor, compatibleServer } = table.otherModels;
  const other = 'baseUrl' in settings ? compatibleServer : vendor;
  const known = KNOWN.find((row) => row.provider === provider && model.startsWith(row.prefix));
  return { ...(known?.capabilities ?? other), ...capabilities };
}

type PolicyConfig = Extract<ConductorConfig, { readonly provider: 'policy' }>;

/**
 * The card of a checkpoint as far as the configuration tells: which one it is, and so how it must be asked, stands in
 * the store and is filled in when a run is resolved.
 */
function policyCard(config: PolicyConfig): ConductorCard {
  const { baseUrl = null, checkpoint, timeout } = config;
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
    price: { input: 0, output: 0 },
    priceVersion: 'local',
    describe: 'ordinals',
  };
}

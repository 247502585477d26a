import { createHash, randomUUID } from 'node:crypto';
import { resolveConductor, resolveWorker } from '../../config/cards';
import { durationMs } from '../../config/duration';
import type { Config, ModelConfig } from '../../config/schema';
import type { ConductorCard, ModelCard } from '../../protocol/cards';
import { FAILURES } from '../../protocol/failures';
import { reasonOf } from '../../errors';
import type { SharedState, SharedStates, Store } from '../../store/store';
import type { ModelCall, Pacing } from '../model-call';
import { toError } from '../as-failure';
import { type Permit, RateLimiter, type RateLimiterSettings, type Surroundings } from './limiter';
import type { RateRefusal } from './window';

/** A model that this process's configuration does not name is not limited. */
const UNLIMITED: Permit = { confirm: () => Promise.resolve(null), release: () => undefined };

/**
 * The limiters of one worker process: one for each model of its configuration, whichever cards and runs share it. They
 * count together with all other processes of a store that can share rates, else for this process alone.
 *
 * Limits are the process's own, as keys are, and not the run's: a worker that is started with other ones keeps them at once.
 */
export function createPacing(
  config: Config,
  { rates }: Pick<Store, 'rates'>,
  surroundings: Surroundings = { now: () => performance.now(), random: () => Math.random() },
): Pacing {
  const states = rates ?? new OwnStates(surroundings.now);
  const process = randomUUID();
  const among = rates === undefined ? 'this process' : 'all worker processes';
  const limiters = new Map(
    [...settingsByModel(config)].map(([key, settings]) => {
      // A name that says nothing to whoever reads the store.
      const name = createHash('sha256').update(key).digest('hex');
      return [key, new RateLimiter(settings, { states, name, process }, surroundings)];
    }),
  );
  return async (call, earlier) => {
    const limiter = limiters.get(keyOf(call.card));
    if (limiter === undefined) return UNLIMITED;
    const permit = await limiter.acquire(tokensOf(call)).catch((error: unknown) => {
      // While it is unknown what others send, nothing is sent: Temporal makes the call again, later each time.
      const message = `whether there is room for ${nameOf(call)} cannot be told, and no request was sent: ${reasonOf(error)}`;
      throw toError({ type: FAILURES.storeUnavailable, message, retryable: true }, earlier);
    });
    if ('reason' in permit) {
      throw toError(refused(call, permit, whyRefused(permit, limiter.settings, among)), earlier);
    }
    return permit;
  };
}

/** States of one process alone, by a clock in milliseconds that never goes back. */
export class OwnStates implements SharedStates {
  private readonly states = new Map<string, Omit<SharedState, 'now'>>();

  constructor(private readonly now: () => number) {}

  read(name: string): Promise<SharedState> {
    return Promise.resolve({ ...(this.states.get(name) ?? { text: null, version: 0 }), now: this.now() });
  }

  swap(name: string, text: string, version: number): Promise<boolean> {
    const isMine = (this.states.get(name)?.version ?? 0) === version;
    if (isMine) this.states.set(name, { text, version: version + 1 });
    return Promise.resolve(isMine);
  }
}

function settingsByModel({ conductor, workers }: Config): Map<string, RateLimiterSettings> {
  const settings = new Map<string, RateLimiterSettings>();
  const add = (card: ConductorCard | ModelCard, own: RateLimiterSettings): void => {
    settings.set(keyOf(card), strictest(own, settings.get(keyOf(card)) ?? own));
  };
  const today = new Date();
  // A checkpoint is not known before a run is resolved, and its server has no rates that cost money.
  if (conductor.provider !== 'policy') add(resolveConductor(conductor, today), settingsOf(conductor));
  for (const worker of workers) {
    const card = resolveWorker(worker, today);
    if (card.kind === 'model' && 'model' in worker) add(card, settingsOf(worker));
  }
  return settings;
}

/** Providers count by account and model, wherever a card is from. */
function keyOf({ provider, baseUrl, apiKeyEnv, model }: ConductorCard | ModelCard): string {
  return JSON.stringify([provider, baseUrl, apiKeyEnv, model]);
}

/**
 * As many failures in a row as one call may come to: a fault that only one question meets opens nothing by chance.
 * Restarts and failovers are over after the pause; a call that waits loses little.
 */
const CIRCUIT = { failures: 5, pause: '30s' };

function settingsOf({ rate, concurrency = Infinity, circuit = {} }: ModelConfig): RateLimiterSettings {
  const { requestsPerMinute = Infinity, tokensPerMinute = Infinity } = rate ?? {};
  const { failures, pause } =
    circuit === false ? { failures: Infinity, pause: '0s' } : { ...CIRCUIT, ...circuit };
  return { requestsPerMinute, tokensPerMinute, concurrency, failures, pauseMs: durationMs(pause) };
}

function strictest(a: RateLimiterSettings, b: RateLimiterSettings): RateLimiterSettings {
  return {
    requestsPerMinute: Math.min(a.requestsPerMinute, b.requestsPerMinute),
    tokensPerMinute: Math.min(a.tokensPerMinute, b.tokensPerMinute),
    concurrency: Math.min(a.concurrency, b.concurrency),
    failures: Math.min(a.failures, b.failures),
    pauseMs: Math.max(a.pauseMs, b.pauseMs),
  };
}

/** English text in the tokenizers of all large vendors; other languages have fewer bytes, and are corrected after. */
const BYTES_PER_TOKEN = 4;

/** All that a call may come to. */
function tokensOf({ messages, maxOutputTokens }: ModelCall): number {
  const bytes = messages.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0);
  return Math.ceil(bytes / BYTES_PER_TOKEN) + maxOutputTokens;
}

function nameOf({ step, worker, card }: ModelCall): string {
  return `${step === null ? 'the Conductor' : `worker ${worker}`} (${card.provider} ${card.model})`;
}

/**
 * The failure of a call that its limiter turned away: no request was sent and no row opened, so it is no attempt.
 *
 * Temporal makes the call again when there is room. Only a worker that fails too often is not waited for where another
 * one stands in: there the failure is final, and the trace shows why the other one answered.
 */
function refused(
  call: ModelCall,
  { reason, waitMs }: RateRefusal,
  why: string,
): Parameters<typeof toError>[0] {
  const isFinal = reason === 'circuit' && call.hasFallback === true;
  const then = isFinal
    ? 'Another worker stands in.'
    : `It will be asked in ${Math.max(1, Math.ceil(waitMs / 1000))} s.`;
  return {
    type: reason === 'circuit' ? FAILURES.circuitOpen : FAILURES.throttled,
    message: `${nameOf(call)} ${why}; no request was sent. ${then}`,
    retryable: !isFinal,
    nextRetryDelayMs: isFinal ? null : Math.ceil(waitMs),
  };
}

function whyRefused({ reason }: RateRefusal, settings: RateLimiterSettings, among: string): string {
  const { requestsPerMinute: requests, tokensPerMinute: tokens, concurrency, failures } = settings;
  if (reason === 'circuit') return `failed ${failures} times in a row or more, and is left alone for a while`;
  if (reason === 'concurrency') return `has as many requests of ${among} as it may at a time, ${concurrency}`;
  const rates = [requests < Infinity && `${requests} requests`, tokens < Infinity && `${tokens} tokens`];
  return `has had its ${rates.filter(Boolean).join(' or ')} a minute from ${among}`;
}

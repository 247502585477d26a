import { hash } from 'node:crypto';
import { conductorsOf, nameOfCard, resolveConductor, resolveWorker } from '../../config/cards';
import { durationMs } from '../../config/duration';
import type { Config, ModelConfig } from '../../config/schema';
import type { CalledCard } from '../../protocol/cards';
import { FAILURES } from '../../protocol/failures';
import { reasonOf } from '../../errors';
import type { SharedState, SharedStates, Store } from '../../store/store';
import type { ModelCall, Pacing } from '../send-request';
import { toError } from '../as-failure';
import { measureWait } from '../measure';
import { type Permit, RateLimiter, type RateLimiterSettings } from './limiter';
import type { RateRefusal } from './window';

/** Permit for a model that this process's configuration does not name, which is not limited. */
const UNLIMITED: Permit = { confirm: () => Promise.resolve(null), release: () => undefined };

/**
 * Creates the rate limiters of one worker process: one per model of its configuration, whichever cards and runs share
 * it. They count together with all other processes of a store that can share rates. Limits belong to the process, as
 * keys do, and not to the run: a worker that is started with other limits applies them at once.
 */
export function createPacing(config: Config, { rates }: Pick<Store, 'rates'>): Pacing {
  const ownStates = new OwnStates();
  const among = rates === undefined ? 'this process' : 'all worker processes';
  const limiters = new Map(
    [...settingsByModel(config)].map(([name, settings]) => {
      const { requestsPerMinute, tokensPerMinute, concurrency } = settings;
      const isLimited = Math.min(requestsPerMinute, tokensPerMinute, concurrency) < Infinity;
      return [name, new RateLimiter(settings, (isLimited ? rates : undefined) ?? ownStates, name)];
    }),
  );
  return async (call, earlier) => {
    const limiter = limiters.get(nameInStore(call.card));
    if (limiter === undefined) return UNLIMITED;
    const permit = await limiter.acquire(tokensOf(call)).catch((error: unknown) => {
      // While the requests of other processes are unknown, nothing is sent; Temporal retries with back-off.
      const message = `cannot check the rate limit of ${nameOfCard(call.card)}, so no request was sent: ${reasonOf(error)}`;
      throw toError({ type: FAILURES.storeUnavailable, message, retryable: true }, earlier);
    });
    if (!('reason' in permit)) return permit;
    if (!isFinal(call, permit)) measureWait(config, call.card, permit);
    throw toError(refused(call, permit, limiter, among), earlier);
  };
}

/** Rate-limiter states of a single process, with a monotonic clock. */
export class OwnStates implements SharedStates {
  private readonly states = new Map<string, Pick<SharedState, 'text' | 'version'>>();

  read(name: string): Promise<SharedState> {
    const time = { now: performance.now(), clock: 'process' };
    return Promise.resolve({ text: null, version: 0, ...this.states.get(name), ...time });
  }

  swap(name: string, text: string, version: number): Promise<boolean> {
    const isMine = (this.states.get(name)?.version ?? 0) === version;
    if (isMine) this.states.set(name, { text, version: version + 1 });
    return Promise.resolve(isMine);
  }
}

function settingsByModel(config: Config): Map<string, RateLimiterSettings> {
  const settings = new Map<string, RateLimiterSettings>();
  const add = (card: CalledCard, written: ModelConfig): void => {
    const [name, own] = [nameInStore(card), limiterSettings(written)];
    const other = settings.get(name) ?? own;
    settings.set(name, {
      requestsPerMinute: Math.min(own.requestsPerMinute, other.requestsPerMinute),
      tokensPerMinute: Math.min(own.tokensPerMinute, other.tokensPerMinute),
      concurrency: Math.min(own.concurrency, other.concurrency),
      failures: Math.min(own.failures, other.failures),
      pauseMs: Math.max(own.pauseMs, other.pauseMs),
    });
  };
  const today = new Date();
  // A checkpoint is unknown until a run is resolved, and no vendor limits the rate of its server.
  for (const [, conductor] of conductorsOf(config)) {
    if (conductor.provider !== 'policy') add(resolveConductor(conductor, today), conductor);
  }
  for (const worker of [...config.workers, ...config.baselines]) {
    const card = resolveWorker(worker, today);
    if (card.kind === 'model' && 'model' in worker) add(card, worker);
  }
  return settings;
}

/** Returns the key of a model's state. Providers count by account and model; the digest hides both in the store. */
function nameInStore({ provider, baseUrl, apiKeyEnv, model }: CalledCard): string {
  return hash('sha256', JSON.stringify([provider, baseUrl, apiKeyEnv, model]));
}

/**
 * Returns a model's limits. By default a circuit opens after as many failures in a row as one call may have, so that
 * one bad question rarely opens it. Thirty seconds outlast a restart or a failover, and waiting costs a call little.
 */
function limiterSettings({
  rate = {},
  concurrency = Infinity,
  circuit = {},
}: ModelConfig): RateLimiterSettings {
  const { requestsPerMinute = Infinity, tokensPerMinute = Infinity } = rate;
  const { failures = 5, pause = '30s' } = circuit === false ? { failures: Infinity, pause: '0s' } : circuit;
  return { requestsPerMinute, tokensPerMinute, concurrency, failures, pauseMs: durationMs(pause) };
}

/** Estimates the most tokens a call may use, at four bytes a token as in English; reported usage corrects it later. */
function tokensOf({ messages, maxOutputTokens }: ModelCall): number {
  const bytes = messages.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0);
  return Math.ceil(bytes / 4) + maxOutputTokens;
}

/**
 * Returns the failure of a call that its limiter refused. No request was sent and no row opened, so it does not count
 * as an attempt, and Temporal retries when there is room. If the circuit is open and another worker stands in, the
 * failure is final, and the trace shows why the other one answered.
 */
function refused(call: ModelCall, refusal: RateRefusal, { settings }: RateLimiter, among: string) {
  const { reason, waitMs } = refusal;
  const { requestsPerMinute: requests, tokensPerMinute: tokens, concurrency, failures } = settings;
  const rates = [requests < Infinity && `${requests} requests`, tokens < Infinity && `${tokens} tokens`];
  const why = {
    circuit: `failed at least ${failures} times in a row and is paused`,
    concurrency: `already has ${concurrency} concurrent requests from ${among}, its limit`,
    rate: `has reached its limit of ${rates.filter(Boolean).join(' or ')} per minute, counted over ${among}`,
  }[reason];
  const isWaitedFor = !isFinal(call, refusal);
  const seconds = Math.max(1, Math.ceil(waitMs / 1000));
  const then = isWaitedFor ? `It will be asked in ${seconds} s.` : 'Another worker stands in.';
  return {
    type: reason === 'circuit' ? FAILURES.circuitOpen : FAILURES.throttled,
    message: `${nameOfCard(call.card)} ${why}; no request was sent. ${then}`,
    retryable: isWaitedFor,
    nextRetryDelayMs: isWaitedFor ? Math.ceil(waitMs) : null,
  };
}

/** Whether nobody waits for an open circuit, since another worker stands in. */
function isFinal({ hasFallback }: ModelCall, { reason }: RateRefusal): boolean {
  return reason === 'circuit' && hasFallback === true;
}

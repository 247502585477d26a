import { createHash, randomUUID } from 'node:crypto';
import { ApplicationFailure } from '@temporalio/activity';
import { resolveConductor, resolveWorker } from '../../config/cards';
import type { Config, ModelConfig } from '../../config/schema';
import { durationMs } from '../../config/duration';
import type { ConductorCard, ModelCard } from '../../protocol/cards';
import { FAILURES } from '../../protocol/failures';
import { reasonOf } from '../../reason-of';
import type { LedgerRow } from '../../store/ledger';
import { OwnStates } from '../../store/shared-states';
import type { Store } from '../../store/store';
import type { Pacing } from '../dependencies';
import { callDetails } from '../ledger-row';
import type { ModelCall } from '../model-call';
import type { CircuitSettings } from './circuit';
import {
  type Permit,
  RateLimiter,
  type RateLimiterSettings,
  type RateRefusal,
  type Surroundings,
} from './limiter';
import type { RateRequest } from './rate-book';

/** A model that this process's configuration does not name is not limited. */
const UNLIMITED: Permit = {
  admitted: true,
  confirm: () => Promise.resolve(null),
  release: () => undefined,
};

/**
 * The limiters of one worker process: one for each model of its configuration, whichever cards and runs share it. Rates
 * and places are counted together with all other processes of a store that can share them, else for this one alone.
 *
 * By the configuration of the process and not of the run: limits are the process's own, as keys are, and a worker that
 * is started with other ones keeps them at once.
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
    [...settingsByModel(config)].map(([key, each]) => [
      key,
      new RateLimiter(each, { states, name: digest(key), process }, surroundings),
    ]),
  );
  return {
    enter: async (call, earlier) => {
      const limiter = limiters.get(keyOf(call.card));
      if (limiter === undefined) return UNLIMITED;
      const permit = await limiter.acquire(requestOf(call)).catch((error: unknown) => {
        throw uncounted(call, error, earlier);
      });
      if (!permit.admitted)
        throw refused(call, permit, REASONS[permit.reason](limiter.settings, among), earlier);
      return permit;
    },
  };
}

/** A name that says nothing to whoever reads the store. */
function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

function settingsByModel({ conductor, workers }: Config): Map<string, RateLimiterSettings> {
  const settings = new Map<string, RateLimiterSettings>();
  const add = (card: ConductorCard | ModelCard, own: RateLimiterSettings): void => {
    const other = settings.get(keyOf(card));
    settings.set(keyOf(card), other === undefined ? own : strictest(own, other));
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

/** As many failures in a row as one call may come to: a fault that only one question meets opens nothing by chance. */
const FAILURES_IN_A_ROW = 5;
/** Restarts and failovers are over by then; a call that waits loses little. */
const PAUSE = '30s';

function settingsOf({ rate = {}, concurrency = Infinity, circuit = {} }: ModelConfig): RateLimiterSettings {
  const { requestsPerMinute = Infinity, tokensPerMinute = Infinity } = rate;
  const limits = { requestsPerMinute, tokensPerMinute, concurrency };
  if (circuit === false) return { ...limits, circuit: null };
  const { failures = FAILURES_IN_A_ROW, pause = PAUSE } = circuit;
  return { ...limits, circuit: { failures, pauseMs: durationMs(pause) } };
}

function strictest(a: RateLimiterSettings, b: RateLimiterSettings): RateLimiterSettings {
  return {
    requestsPerMinute: Math.min(a.requestsPerMinute, b.requestsPerMinute),
    tokensPerMinute: Math.min(a.tokensPerMinute, b.tokensPerMinute),
    concurrency: Math.min(a.concurrency, b.concurrency),
    circuit: strictestCircuit(a.circuit, b.circuit),
  };
}

function strictestCircuit(a: CircuitSettings | null, b: CircuitSettings | null): CircuitSettings | null {
  if (a === null || b === null) return a ?? b;
  return { failures: Math.min(a.failures, b.failures), pauseMs: Math.max(a.pauseMs, b.pauseMs) };
}

/** Of English text, in the tokenizers of all large vendors; other languages have fewer bytes, and are corrected after. */
const BYTES_PER_TOKEN = 4;

function requestOf({ worker, messages, maxOutputTokens }: ModelCall): RateRequest {
  const bytes = messages.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0);
  return { worker: digest(worker), inputTokens: Math.ceil(bytes / BYTES_PER_TOKEN), maxOutputTokens };
}

function nameOf({ step, worker, card }: ModelCall): string {
  return `${step === null ? 'the Conductor' : `worker ${worker}`} (${card.provider} ${card.model})`;
}

/** Where it is unknown what others send, nothing is sent: Temporal makes the call again, later each time. */
function uncounted(call: ModelCall, error: unknown, earlier: readonly LedgerRow[]): ApplicationFailure {
  return ApplicationFailure.create({
    type: FAILURES.storeUnavailable,
    message: `whether there is room for ${nameOf(call)} cannot be told, and no request was sent: ${reasonOf(error)}`,
    details: [callDetails(earlier)],
  });
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
  earlier: readonly LedgerRow[],
): ApplicationFailure {
  const isFinal = reason === 'circuit' && call.hasFallback === true;
  const seconds = Math.max(1, Math.ceil(waitMs / 1000));
  const then = isFinal ? 'Another worker stands in.' : `It will be asked in ${seconds} s.`;
  return ApplicationFailure.create({
    type: reason === 'circuit' ? FAILURES.circuitOpen : FAILURES.throttled,
    message: `${nameOf(call)} ${why}; no request was sent. ${then}`,
    nonRetryable: isFinal,
    details: [callDetails(earlier)],
    nextRetryDelay: isFinal ? undefined : Math.ceil(waitMs),
  });
}

type Why = (settings: RateLimiterSettings, among: string) => string;

const REASONS: Readonly<Record<RateRefusal['reason'], Why>> = {
  rate: ({ requestsPerMinute: requests, tokensPerMinute: tokens }, among) => {
    const rates = [
      ...(requests < Infinity ? [`${requests} requests`] : []),
      ...(tokens < Infinity ? [`${tokens} tokens`] : []),
    ];
    return `has had its ${rates.join(' or ')} a minute from ${among}`;
  },
  concurrency: ({ concurrency }, among) =>
    `has as many requests of ${among} as it may at a time, ${concurrency}`,
  circuit: ({ circuit }) =>
    `failed ${circuit?.failures ?? 0} times in a row or more, and is left alone for a while`,
};

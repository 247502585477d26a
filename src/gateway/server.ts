import { once } from 'node:events';
import { createServer } from 'node:http';
import { getRequestListener } from '@hono/node-server';
import { unlessNotFound } from '../client';
import { listen, type Listening } from '../network/listen';
import { type Store, sweep, timeAgo } from '../store/store';
import { within } from '../runtime/turns';
import { buildApp } from './app';
import { AwaitedSolves } from './awaited';
import { Closing } from './closing';
import { DayBudgets, DAYS } from './access/day-budget';
import type { Gateway, GatewayOptions } from './gateway';
import { LOOPBACK_HOSTS } from './access/admission';
import { KeyChecker, RequestRates } from './access/keys';
import { PASSES, Sessions } from './access/passes';
import { OpenStreams } from './access/streams';
import { Metrics } from './metrics';
import { Pulse, PULSES } from './pulse';
import { Workers } from './workers';
import { SPENDINGS } from './solve/answer-end';
import { forgetHandovers, Handovers } from './solve/handovers';
import { RESPONSE_NOTES } from './surfaces/response-notes';
import { forgetTranscripts } from './solve/transcript';

export { PAGE_FOLDER } from './page';

export interface Address {
  readonly port: number;
  readonly host: string;
  /** Names accepted in the header `Host`, besides loopback names on a loopback address; elsewhere, none means any. */
  readonly allowHosts: readonly string[];
}

/** Timeout for receiving a request; the response may take any time. */
const REQUEST_MS = 60_000;
const TIDY_MS = 60 * 60 * 1000;

export interface ListeningGateway extends Listening {
  /**
   * Takes no new work, and gives requests under way `drainMs` to be answered. Those that take longer are told how to go
   * on, since their solves do.
   */
  readonly close: (drainMs?: number) => Promise<void>;
}

/** Time for the last words of a stopping gateway to be sent. */
const LAST_WORDS_MS = 2_000;
/** Polling interval for kept connections that have become idle while the gateway stops. */
const IDLE_MS = 50;

/** Starts the HTTP server for OpenAI's and Anthropic's clients, which runs until it is closed. */
export async function startGateway(
  options: GatewayOptions,
  { port, host, allowHosts }: Address,
): Promise<ListeningGateway> {
  const isLoopback = LOOPBACK_HOSTS.includes(host.includes(':') ? `[${host}]` : host);
  const known = isLoopback ? [...LOOPBACK_HOSTS, ...allowHosts] : allowHosts;
  const gateway = partsOf(options);
  const app = buildApp(gateway, known.length === 0 ? null : known);
  const limits = {
    requestTimeout: REQUEST_MS,
    headersTimeout: REQUEST_MS,
    connectionsCheckingInterval: 5_000,
    // A reconnecting client sends a stream cursor, which is long for a solve with many steps.
    maxHeaderSize: 128 * 1024,
  };
  const answer = getRequestListener(app.fetch, { overrideGlobalObjects: false });
  const server = createServer(limits, (request, response) => void answer(request, response));
  const tidying = setInterval(() => void tidy(options.store), TIDY_MS).unref();
  const listening = await listen(server, port, host);
  const close = async (drainMs = 0): Promise<void> => {
    gateway.closing.begin();
    const closed = once(server.close(), 'close');
    const hangingUp = setInterval(() => {
      server.closeIdleConnections();
    }, IDLE_MS);
    await within(drainMs, closed);
    gateway.closing.end();
    await within(LAST_WORDS_MS, closed);
    clearInterval(hangingUp);
    server.closeAllConnections();
    await closed;
    await within(LAST_WORDS_MS, gateway.handovers.untilNoted());
    clearInterval(tidying);
  };
  return { url: listening.url, close };
}

function partsOf(options: GatewayOptions): Gateway {
  const { conductor, temporal, config, store } = options;
  const keys = new KeyChecker(store);
  return {
    ...options,
    keys,
    sessions: new Sessions(store, keys),
    budgets: new DayBudgets(store, (id) => unlessNotFound(conductor.trace(id))),
    rates: new RequestRates(),
    streams: new OpenStreams(),
    handovers: new Handovers(store, new Pulse(store)),
    awaited: new AwaitedSolves(),
    workers: new Workers(temporal, config.temporal.taskQueue),
    metrics: new Metrics(),
    closing: new Closing(),
  };
}

/** Removes stale entries; a failure wastes only space until the next hour. */
export async function tidy(store: Store): Promise<void> {
  const forget = async (folder: string, lifeMs: number): Promise<void> => {
    const than = await timeAgo(store, lifeMs);
    await sweep(store, [folder], { than, isLive: () => false, dryRun: false });
  };
  for (const { folder, lifeMs } of [DAYS, PULSES, SPENDINGS, RESPONSE_NOTES, ...Object.values(PASSES)])
    await forget(folder, lifeMs).catch(() => undefined);
  await forgetHandovers(store).catch(() => undefined);
  await forgetTranscripts(store).catch(() => undefined);
}

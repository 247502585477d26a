import { createServer } from 'node:http';
import { getRequestListener } from '@hono/node-server';
import { listen, type Listening } from '../listen';
import { buildApp } from './app';
import type { Gateway } from './gateway';
import { LOOPBACK_HOSTS } from './host';
import { forgetAsked } from './retried';

export interface GatewayPlace {
  readonly port: number;
  readonly host: string;
  /** Names that requests may have in their header `Host`; none: those of this machine, or any on another address. */
  readonly allowHosts: readonly string[];
}

/** How long a client may take to send a request; its answer may take as long as it takes. */
const REQUEST_MS = 60_000;
const TIDY_MS = 60 * 60 * 1000;

/** Answers OpenAI's and Anthropic's clients over HTTP until it is closed. */
export async function startGateway(
  gateway: Gateway,
  { port, host, allowHosts }: GatewayPlace,
): Promise<Listening> {
  const isLoopback = LOOPBACK_HOSTS.includes(host.includes(':') ? `[${host}]` : host);
  const known = isLoopback ? [...LOOPBACK_HOSTS, ...allowHosts] : allowHosts;
  const app = buildApp(gateway, known.length === 0 ? null : known);
  const limits = {
    requestTimeout: REQUEST_MS,
    headersTimeout: REQUEST_MS,
    connectionsCheckingInterval: 5_000,
    // The place in the stream of a solve with many steps, which a client sends when it comes back.
    maxHeaderSize: 128 * 1024,
  };
  const server = createServer(limits, getRequestListener(app.fetch, { overrideGlobalObjects: false }));
  const tidying = setInterval(() => void tidy(gateway), TIDY_MS).unref();
  const listening = await listen(server, port, host);
  return {
    url: listening.url,
    close: async () => {
      clearInterval(tidying);
      await listening.close();
    },
  };
}

/** What is left lying costs room alone. */
async function tidy({ store }: Gateway): Promise<void> {
  await forgetAsked(store).catch(() => undefined);
}

import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** Changes the body of a response. */
export type Spoil = (body: string) => string;

const asItIs: Spoil = (body) => body;

/** A proxy before a policy server, which only forwards until a test sets a fault. */
export interface SpoilingProxy {
  /** Base URL that ends in `/v1`. */
  readonly url: string;
  /** Forwards requests to the server with this base URL from now on. */
  leadTo(target: string): void;
  /** Spoils the responses of a route, e.g. `/v1/completions`, from now on. */
  spoil(route: string, spoil: Spoil): void;
  /** Stops listening at the next request to a route. */
  vanishAt(route: string): void;
  /** Removes all faults, and listens again. */
  mend(): Promise<void>;
  close(): Promise<void>;
}

export async function openSpoilingProxy(): Promise<SpoilingProxy> {
  const faults = new Map<string, Spoil | 'vanish'>();
  let origin = '';
  const server = createServer((request, response) => {
    const fault = faults.get(request.url ?? '');
    if (fault === 'vanish') {
      server.close();
      server.closeAllConnections();
      return;
    }
    passOn(origin, request, response, fault ?? asItIs).catch(() => response.destroy());
  });
  const listen = async (port: number): Promise<number> => {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    return (server.address() as AddressInfo).port;
  };
  const port = await listen(0);
  return {
    url: `http://127.0.0.1:${port}/v1`,
    leadTo: (target) => {
      ({ origin } = new URL(target));
    },
    spoil: (route, spoil) => {
      faults.set(route, spoil);
    },
    vanishAt: (route) => {
      faults.set(route, 'vanish');
    },
    mend: async () => {
      faults.clear();
      if (!server.listening) await listen(port);
    },
    close: async () => {
      server.closeAllConnections();
      if (server.listening) await once(server.close(), 'close');
    },
  };
}

async function passOn(
  origin: string,
  request: IncomingMessage,
  response: ServerResponse,
  spoil: Spoil,
): Promise<void> {
  const { method = 'GET', url = '/' } = request;
  const body = await text(request);
  const headers = { 'content-type': request.headers['content-type'] ?? 'application/json' };
  const answer = await fetch(origin + url, { method, headers, ...(method === 'POST' && { body }) });
  response.writeHead(answer.status, { 'Content-Type': 'application/json' });
  response.end(spoil(await answer.text()));
}

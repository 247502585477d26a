import { createServer, request as ask } from 'node:http';
import { connect } from 'node:net';
import type { Duplex } from 'node:stream';
import { listen, type Listening } from '../../src/network/listen';

export interface ForwardProxy {
  url: string;
  /** What was asked for, in order: `CONNECT host:port`, or the method and whole address of a plain request. */
  readonly passed: string[];
  /** Credentials that came with it. */
  readonly credentials: (string | undefined)[];
  /** Status of each answer instead of passing anything on; null passes it on. */
  refuses: number | null;
  /** Host and port that a host leads to here: names of others exist for the proxy alone. */
  readonly leadsTo: Map<string, string>;
}

/** Starts a proxy as companies have it: a tunnel for `CONNECT`, plain requests by their whole address. */
function open(proxy: ForwardProxy): Promise<Listening> {
  const open = new Set<Duplex>();
  const note = (what: string, credentials: string | undefined): void => {
    proxy.passed.push(what);
    proxy.credentials.push(credentials);
  };
  const placeOf = ({ host }: URL): string => proxy.leadsTo.get(host) ?? host;
  const server = createServer((request, response) => {
    const { method = '', url = '', headers } = request;
    note(`${method} ${url}`, headers['proxy-authorization']);
    if (proxy.refuses !== null) {
      response.writeHead(proxy.refuses, { 'content-type': 'text/html' }).end('<html>No.</html>');
      return;
    }
    const { pathname, search } = new URL(url);
    const onward = ask(
      `http://${placeOf(new URL(url))}${pathname}${search}`,
      { method, headers },
      (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(response);
      },
    );
    onward.on('error', () => response.destroy());
    request.pipe(onward);
  });
  server.on('connect', (request, client, head) => {
    note(`CONNECT ${request.url}`, request.headers['proxy-authorization']);
    open.add(client);
    client.on('error', () => undefined);
    if (proxy.refuses !== null) {
      client.end(`HTTP/1.1 ${proxy.refuses} No\r\ncontent-length: 0\r\n\r\n`);
      return;
    }
    // A scheme without a port of its own keeps the port 443 in the address.
    const [hostname = '', port = ''] = placeOf(new URL(`tunnel://${request.url}`)).split(/:(?=\d+$)/);
    const onward = connect(Number(port), hostname, () => {
      client.write('HTTP/1.1 200 Connection established\r\n\r\n');
      onward.write(head);
      onward.pipe(client).pipe(onward);
    });
    open.add(onward);
    onward.on('error', () => client.destroy());
  });
  const listening = listen(server, 0, '127.0.0.1');
  return listening.then(({ url, close }) => ({
    url,
    close: async () => {
      for (const socket of open) socket.destroy();
      await close();
    },
  }));
}

/** Starts a proxy for the tests of a file; nothing of one test is left in the next. */
export function useProxy(): ForwardProxy {
  const proxy: ForwardProxy = { url: '', passed: [], credentials: [], refuses: null, leadsTo: new Map() };
  let listening: Listening;
  beforeAll(async () => {
    listening = await open(proxy);
    proxy.url = listening.url;
  });
  beforeEach(() => {
    proxy.passed.length = 0;
    proxy.credentials.length = 0;
    proxy.refuses = null;
    proxy.leadsTo.clear();
  });
  afterAll(() => listening.close());
  return proxy;
}

const NAMES = ['http_proxy', 'https_proxy', 'all_proxy', 'no_proxy'].flatMap((name) => [
  name,
  name.toUpperCase(),
]);

/** Sets the variables of proxies for one test, and no others. */
export function setProxies(variables: Readonly<Record<string, string>>): void {
  for (const name of NAMES) Reflect.deleteProperty(process.env, name);
  Object.assign(process.env, variables);
}

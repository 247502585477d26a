import type { Dispatcher } from 'undici';
import { codeOf, reasonOf } from '../errors';
import { namesProxy, type Proxy, proxyFor, TunnelError } from './proxy';

type ConnectData = Dispatcher.ConnectData;

/** Sends an HTTP request as `fetch` does, without its timeouts: Node's gives up after 300 s, a model may need longer. */
export type Fetch = (input: string | URL | Request, init?: RequestInit) => Promise<Response>;

/**
 * Returns the `fetch` that sends each request through the proxy for its address.
 * @param own proxy that goes before the variables `HTTPS_PROXY` and the like
 */
export async function openFetch(own?: string): Promise<Fetch> {
  // Without a proxy, what the program has set for its own requests stays, e.g. a dispatcher with certificates.
  if (own === undefined && !namesProxy(process.env)) return patientFetch;
  const { fetch, agent } = await openRoutes(own);
  const options = sentBy(patient(agent));
  return (input, init) => (fetch as unknown as Fetch)(input, { ...init, ...options });
}

/** Sends the requests of libraries that call Node's own `fetch` through the proxies that variables name. */
export async function routeGlobalFetch(): Promise<void> {
  if (!namesProxy(process.env)) return;
  const { setGlobalDispatcher, agent } = await openRoutes();
  setGlobalDispatcher(agent);
}

const patientFetch: Fetch = (input, init) => {
  const shared: unknown = Reflect.get(globalThis, GLOBAL_DISPATCHER);
  return fetch(input, isDispatcher(shared) ? { ...init, ...sentBy(patient(shared)) } : init);
};

/** Key under which Node keeps the dispatcher of its own `fetch`, which may be a user's proxy agent. */
const GLOBAL_DISPATCHER = Symbol.for('undici.globalDispatcher.1');

function isDispatcher(value: unknown): value is Dispatcher {
  return typeof value === 'object' && value !== null && 'compose' in value && 'dispatch' in value;
}

/** Returns the field that Node's `fetch` adds to a browser's. */
function sentBy(dispatcher: Dispatcher): object {
  return { dispatcher };
}

function patient(dispatcher: Dispatcher): Dispatcher {
  return dispatcher.compose(
    (dispatch) => (options, handler) => dispatch({ ...options, headersTimeout: 0, bodyTimeout: 0 }, handler),
  );
}

type Routes = Awaited<ReturnType<typeof makeRoutes>>;

const routes = new Map<string, Promise<Routes>>();

/** Opens the connections once for each card's proxy: they are kept for later requests. */
function openRoutes(own?: string): Promise<Routes> {
  const key = own ?? '';
  const opened = routes.get(key) ?? makeRoutes(own);
  routes.set(key, opened);
  return opened;
}

/** Loads undici where a proxy is named: it has the proxy agents that Node's own copy keeps to itself. */
async function makeRoutes(own?: string) {
  const { Agent, fetch, Pool, ProxyAgent, setGlobalDispatcher } = await import('undici');
  const agent = new Agent({
    factory: (origin, options) => {
      const proxy = proxyFor(origin, process.env, own);
      if (proxy === null) return new Pool(origin, options);
      // Proxies mostly allow a tunnel to port 443 alone, so plain HTTP is asked for by its whole address.
      return new ProxyAgent({
        uri: proxy.url.href,
        proxyTunnel: false,
        clientFactory: openTunnels,
      });
    },
  });
  // The agent would open a tunnel anew, without end, if the proxy closes the connection instead of answering.
  const openTunnels = (proxy: URL, options: object): Dispatcher => {
    const pool = new Pool(proxy, options);
    const open = pool.connect.bind(pool);
    return Object.assign(pool, {
      connect: (asked: Parameters<typeof open>[0]) => openTunnel(open(asked)),
    });
  };
  return { fetch, agent, setGlobalDispatcher };
}

/** Asks a proxy for a tunnel to `host:port`, and closes it. @throws TunnelError */
export async function tryTunnel({ url }: Proxy, place: string, signal: AbortSignal): Promise<void> {
  const { Client } = await import('undici');
  const client = new Client(url.origin);
  const credentials = [url.username, url.password].map(decodeURIComponent).join(':');
  const authorization = `Basic ${Buffer.from(credentials).toString('base64')}`;
  const headers = { host: place, ...(credentials !== ':' && { 'proxy-authorization': authorization }) };
  try {
    (await openTunnel(client.connect({ path: place, headers, signal }))).socket.destroy();
  } finally {
    await client.destroy();
  }
}

async function openTunnel(opening: Promise<ConnectData>): Promise<ConnectData> {
  const opened = await opening.catch((cause: unknown) => {
    const isClosed = codeOf(cause) === 'UND_ERR_SOCKET';
    throw new TunnelError(isClosed ? 'it closed the connection unanswered' : reasonOf(cause), null, {
      cause,
    });
  });
  if (opened.statusCode === 200) return opened;
  opened.socket.on('error', () => undefined).destroy();
  throw new TunnelError(`it answered ${opened.statusCode}`, opened.statusCode);
}

import type { ConnectionOptions } from '@temporalio/client';
import type { NativeConnectionOptions } from '@temporalio/worker';
import type { ClientConnectConfig } from '@temporalio/envconfig';
import { describeProxy, type Proxy, ProxyError, proxyFor } from '../network/proxy';

type Address = ClientConnectConfig['connectionOptions'];

/** Returns the proxy on the way to a Temporal server, or null. @throws ProxyError if Temporal cannot use it */
export function proxyOfTemporal(
  { address = '', tls, apiKey }: Address,
  env: NodeJS.ProcessEnv = process.env,
): Proxy | null {
  const isSecure = tls === undefined || tls === null ? apiKey !== undefined : tls !== false;
  const place = `${isSecure ? 'https' : 'http'}://${withPort(address)}`;
  const proxy = URL.canParse(place) ? proxyFor(place, env) : null;
  if (proxy === null || proxy.url.protocol === 'http:') return proxy;
  throw new ProxyError(
    `Temporal is reached through a proxy of http:// alone, not ${describeProxy(proxy)}: list ${address} in NO_PROXY`,
  );
}

/**
 * Returns a client's options with the proxy. The client's own library reads other variables by rules of its own, and
 * would seek the server of this machine through a proxy, so that is switched off.
 */
export function viaProxy(options: Address & ConnectionOptions, env?: NodeJS.ProcessEnv): ConnectionOptions {
  const proxy = proxyOfTemporal(options, env);
  const { address, channelArgs } = options;
  const own = { ...channelArgs, 'grpc.enable_http_proxy': 0 };
  if (proxy === null) return { ...options, channelArgs: own };
  const credentials = credentialsOf(proxy);
  const target = withPort(address ?? '');
  return {
    ...options,
    address: hostAndPort(proxy),
    channelArgs: {
      ...own,
      'grpc.http_connect_target': `dns:${target}`,
      'grpc.default_authority': target,
      ...(credentials && { 'grpc.http_connect_creds': `${credentials.username}:${credentials.password}` }),
    },
  };
}

/** Returns the options of Temporal's native core with the proxy: it reads no variable. */
export function nativelyViaProxy(options: Address): NativeConnectionOptions {
  const proxy = proxyOfTemporal(options);
  if (proxy === null) return options;
  const basicAuth = credentialsOf(proxy);
  return {
    ...options,
    proxy: { type: 'http-connect', targetHost: hostAndPort(proxy), ...(basicAuth && { basicAuth }) },
  };
}

const USUAL_PORT = 7233;

/** Adds Temporal's usual port to an address without one. */
export function withPort(address: string): string {
  const place = address.replace(/^https?:\/\//, '');
  return /:\d+$/.test(place) ? place : `${place}:${USUAL_PORT}`;
}

/** Returns the proxy's host and port: a URL leaves out the usual one. */
function hostAndPort({ url }: Proxy): string {
  return `${url.hostname}:${url.port || '80'}`;
}

function credentialsOf({ url }: Proxy): { readonly username: string; readonly password: string } | null {
  const [username, password] = [decodeURIComponent(url.username), decodeURIComponent(url.password)];
  return username === '' ? null : { username, password };
}

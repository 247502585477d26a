import { BlockList, isIP } from 'node:net';
import { ConductorError } from '../errors';

/** Proxy on the way to an address. */
export interface Proxy {
  /** May hold a password: people are shown `address`. */
  readonly url: URL;
  readonly address: string;
  /** Name of the variable or setting that it comes from. */
  readonly source: string;
}

/** Thrown for a proxy that cannot be used as it is named. */
export class ProxyError extends ConductorError {
  override readonly name = 'ProxyError';
  readonly code = 'Proxy';
}

/** Thrown if a proxy opens no tunnel, so that nothing was sent to the address itself. */
export class TunnelError extends ConductorError {
  override readonly name = 'TunnelError';
  readonly code = 'Tunnel';

  /** @param status the proxy's answer, if there was one */
  constructor(
    reason: string,
    readonly status: number | null,
    options?: ErrorOptions,
  ) {
    super(reason, options);
  }
}

/** Variables that name a proxy, by the scheme of the address that is asked. The first one that is not empty counts. */
const VARIABLES: Readonly<Record<string, readonly string[]>> = {
  'http:': ['http_proxy', 'HTTP_PROXY', 'all_proxy', 'ALL_PROXY'],
  'https:': ['https_proxy', 'HTTPS_PROXY', 'all_proxy', 'ALL_PROXY'],
};

/** Returns whether any variable names a proxy. */
export function namesProxy(env: NodeJS.ProcessEnv): boolean {
  return Object.values(VARIABLES).some((names) => firstOf(env, names) !== undefined);
}

/**
 * Returns the proxy for an http or https address, or null if it is asked directly. A card's own proxy goes before the
 * variables. An address of this machine never has one: a proxy's loopback is another machine's.
 * @throws ProxyError if a variable is no address of an http or https proxy
 */
export function proxyFor(target: string | URL, env: NodeJS.ProcessEnv, own?: string): Proxy | null {
  const url = new URL(target);
  if (isLoopback(url)) return null;
  if (own !== undefined) return toProxy(own, 'proxy');
  const source = firstOf(env, VARIABLES[url.protocol] ?? []);
  if (source === undefined || isExempt(url, env)) return null;
  return toProxy(env[source] ?? '', source);
}

/** Names a proxy in messages: `the proxy http://proxy.example:3128 (HTTPS_PROXY)`. */
export function describeProxy({ address, source }: Proxy): string {
  return `the proxy ${address} (${source})`;
}

const PASSWORD_WANTED = 407;

/** Returns what to do about a proxy that passes nothing on, without a full stop. @param status its answer, if any */
export function remedyForProxy({ source }: Proxy, status: number | null): string {
  const isOwn = source === 'proxy';
  const correct = isOwn ? 'correct "proxy" of the card' : `correct ${source}, or list the host in NO_PROXY`;
  if (status === PASSWORD_WANTED) {
    const where = isOwn ? 'remove "proxy" from the card, and set HTTPS_PROXY' : `set ${source}`;
    return `It wants a password: ${where} to http://user:password@host:port`;
  }
  return status !== null && status < 500
    ? `Ask its operator to allow this address, or ${correct}`
    : `Check that the proxy runs and reaches this address, or ${correct}`;
}

function firstOf(env: NodeJS.ProcessEnv, names: readonly string[]): string | undefined {
  // Containers pass unset variables as empty.
  return names.find((name) => (env[name] ?? '').trim() !== '');
}

function toProxy(value: string, source: string): Proxy {
  const text = value.trim();
  const named = /^[a-z][a-z0-9+.-]{0,20}:\/\//i.test(text) ? text : `http://${text}`;
  const url = URL.canParse(named) ? new URL(named) : null;
  // The value may hold a password, so the message does not repeat it.
  if (url === null || !/^https?:$/.test(url.protocol)) {
    const found = url === null ? 'no address' : `of the kind ${url.protocol}//`;
    throw new ProxyError(
      `${source} is ${found}: expected http://host:port or https://host:port; name another proxy there, or unset it`,
    );
  }
  url.username = decodable(url.username);
  url.password = decodable(url.password);
  return { url, address: url.origin, source };
}

/** Returns a user name or password that can be decoded: one with a bare `%` was written as it is. */
function decodable(encoded: string): string {
  try {
    decodeURIComponent(encoded);
    return encoded;
  } catch {
    return encoded.replaceAll('%', '%25');
  }
}

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet('127.0.0.0', 8);
LOOPBACK.addAddress('::1', 'ipv6');
// Both lead to this machine when they are called.
LOOPBACK.addAddress('0.0.0.0');
LOOPBACK.addAddress('::', 'ipv6');

/** Returns whether an address is one of this machine by its form alone, without asking for a name. */
export function isLoopback(url: URL): boolean {
  const host = hostOf(url);
  return host === 'localhost' || host.endsWith('.localhost') || isIn(LOOPBACK, host);
}

function hostOf({ hostname }: URL): string {
  return bare(hostname).replace(/\.$/, '').toLowerCase();
}

/** Strips the brackets of an IPv6 address. */
const bare = (host: string): string => host.replace(/^\[|\]$/g, '');

function isIn(list: BlockList, host: string): boolean {
  const version = isIP(host);
  return version !== 0 && list.check(host, version === 6 ? 'ipv6' : 'ipv4');
}

/** Returns whether `NO_PROXY` lists an address: by its host or a domain above it, its network, or `*`. */
function isExempt(url: URL, env: NodeJS.ProcessEnv): boolean {
  const name = firstOf(env, ['no_proxy', 'NO_PROXY']);
  const entries = (env[name ?? ''] ?? '').split(/[\s,]+/).filter(Boolean);
  const port = url.port || (url.protocol === 'https:' ? '443' : '80');
  return entries.some((entry) => {
    const [, place = entry, only = port] = /^(.*[^:]|.*\]):(\d{1,5})$/.exec(isIP(entry) ? '' : entry) ?? [];
    return only === port && fits(bare(place.toLowerCase()), hostOf(url));
  });
}

function fits(place: string, host: string): boolean {
  if (isIP(place.split('/')[0] ?? '') !== 0) return isIn(networkOf(place), host);
  const domain = place.replace(/^\*?\./, '').replace(/\.$/, '');
  return place === '*' || host === domain || host.endsWith(`.${domain}`);
}

/** Returns a network such as `10.0.0.0/8`, or a single address; an impossible one is empty. */
function networkOf(place: string): BlockList {
  const list = new BlockList();
  const [address = '', bits] = place.split('/');
  const [family, most] = isIP(address) === 6 ? (['ipv6', 128] as const) : (['ipv4', 32] as const);
  const length = Number(bits ?? most);
  if (Number.isInteger(length) && length >= 0 && length <= most) list.addSubnet(address, length, family);
  return list;
}

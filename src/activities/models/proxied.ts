import { describeProxy, type Proxy, ProxyError, proxyFor, TunnelError } from '../../network/proxy';
import { FAILURES } from '../../protocol/failures';
import { causesOf, diagnose, type Diagnosis } from './diagnose';

type Target = string | URL | Request;

/** Diagnoses a request without an answer as `diagnose` does, and names the proxy on its way, if there is one. */
export function diagnoseProxied(error: unknown, target: Target, own: string | undefined): Diagnosis {
  const [unusable] = causesOf(error).filter((cause) => cause instanceof ProxyError);
  if (unusable) {
    const { message: reason } = unusable;
    return { type: FAILURES.badRequest, happened: 'could not be asked', reason, remedy: 'Nothing was sent.' };
  }
  const found = diagnose(error);
  const proxy = findProxy(target, own);
  if (proxy === null) return found;
  const causes = causesOf(error);
  const tunnel = causes.find((cause) => cause instanceof TunnelError);
  if (tunnel) return refusedBy(proxy, tunnel);
  if (causes.some(({ message }) => message.startsWith(WANTS_PASSWORD))) return passwordWantedBy(proxy);
  const reason = `${describeProxy(proxy)}: ${found.reason}`;
  return { ...found, reason, ...(found.type === FAILURES.unavailable && { remedy: remedyFor(proxy) }) };
}

/** Adds the proxy to the diagnosis of a plain HTTP answer, which may be the proxy's own. */
export function throughProxy(
  found: Diagnosis,
  status: number,
  target: Target,
  own: string | undefined,
): Diagnosis {
  const proxy = findProxy(target, own);
  // A proxy only passes on what is encrypted.
  if (proxy === null || urlOf(target).protocol === 'https:') return found;
  if (status === PASSWORD_WANTED) return passwordWantedBy(proxy);
  return { ...found, happened: `${found.happened} through ${describeProxy(proxy)}` };
}

/** Wording of undici for a plain request. */
const WANTS_PASSWORD = 'Proxy Authentication Required';

const PASSWORD_WANTED = 407;

function refusedBy(proxy: Proxy, { status, message }: TunnelError): Diagnosis {
  if (status === PASSWORD_WANTED) return passwordWantedBy(proxy);
  const reason = `${describeProxy(proxy)}: ${message}`;
  const happened = 'could not be reached';
  if (status === null || status >= 500) {
    return { type: FAILURES.unavailable, happened, reason, remedy: remedyFor(proxy) };
  }
  const remedy = `Ask its operator to allow this address, or ${goAround(proxy)}.`;
  return { type: FAILURES.badRequest, happened, reason, remedy };
}

function passwordWantedBy(proxy: Proxy): Diagnosis {
  const reason = `${describeProxy(proxy)}: it answered ${PASSWORD_WANTED}`;
  const how = 'to http://user:password@host:port';
  const remedy =
    proxy.source === 'proxy'
      ? `It wants a password: remove "proxy" from the card, and set HTTPS_PROXY ${how}.`
      : `It wants a password: set ${proxy.source} ${how}.`;
  return { type: FAILURES.badRequest, happened: 'could not be reached', reason, remedy };
}

function remedyFor(proxy: Proxy): string {
  return `Check that the proxy runs and reaches this address, or ${goAround(proxy)}; nothing was billed.`;
}

function goAround({ source }: Proxy): string {
  return source === 'proxy'
    ? 'correct "proxy" of the card'
    : `correct ${source}, or list the host in NO_PROXY`;
}

/** Returns the proxy of a request; null if there is none, or if the address itself is wrong. */
function findProxy(target: Target, own: string | undefined): Proxy | null {
  try {
    return proxyFor(urlOf(target), process.env, own);
  } catch {
    return null;
  }
}

function urlOf(target: Target): URL {
  return new URL(target instanceof Request ? target.url : target);
}

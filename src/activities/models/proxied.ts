import {
  describeProxy,
  type Proxy,
  ProxyError,
  proxyFor,
  remedyForProxy,
  TunnelError,
} from '../../network/proxy';
import { FAILURES } from '../../protocol/failures';
import { causesOf, diagnose, type Diagnosis } from './diagnose';

type Target = string | URL | Request;

/** Diagnoses a request without an answer as `diagnose` does, and names the proxy on its way, if there is one. */
export function diagnoseProxied(error: unknown, target: Target, own: string | undefined): Diagnosis {
  const causes = causesOf(error);
  const unusable = causes.find((cause) => cause instanceof ProxyError);
  if (unusable) {
    const { message: reason } = unusable;
    return { type: FAILURES.badRequest, happened: 'could not be asked', reason, remedy: 'Nothing was sent.' };
  }
  if (causes.some(({ message }) => message === BAD_PORT)) return uncallable(urlOf(target));
  const found = diagnose(error);
  const proxy = findProxy(target, own);
  if (proxy === null) return found;
  const tunnel = causes.find((cause) => cause instanceof TunnelError);
  if (tunnel) return refusedBy(proxy, tunnel.status, tunnel.message);
  if (causes.some(({ message }) => message.startsWith(WANTS_PASSWORD))) return refusedBy(proxy, 407);
  if (found.type === FAILURES.unavailable) return refusedBy(proxy, null, found.reason);
  return { ...found, reason: `${describeProxy(proxy)}: ${found.reason}` };
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
  if (status === 407) return refusedBy(proxy, status);
  return { ...found, happened: `${found.happened} through ${describeProxy(proxy)}` };
}

/** Wording of `fetch` for a port that belongs to another protocol (https://fetch.spec.whatwg.org/#port-blocking). */
const BAD_PORT = 'bad port';

/** What happened to a request that no HTTP client sends to its port. */
export const UNCALLABLE = 'cannot be called';

function uncallable({ hostname, port }: URL): Diagnosis {
  return {
    type: FAILURES.badRequest,
    happened: UNCALLABLE,
    reason: `port ${port} of ${hostname} is closed to HTTP clients`,
    remedy: 'Correct its baseUrl, or have its server listen on another port; nothing was sent.',
  };
}

/** Wording of undici for a plain request. */
const WANTS_PASSWORD = 'Proxy Authentication Required';

/** What happened to a request that a proxy did not pass on. */
export const UNREACHED = 'could not be reached';

/** Diagnoses a request that a proxy did not pass on, so that nothing was billed. A refusal will not change by itself. */
function refusedBy(proxy: Proxy, status: number | null, why = `it answered ${status}`): Diagnosis {
  const isPassing = status === null || status >= 500;
  return {
    type: isPassing ? FAILURES.unavailable : FAILURES.badRequest,
    happened: UNREACHED,
    reason: `${describeProxy(proxy)}: ${why}`,
    remedy: `${remedyForProxy(proxy, status)}; nothing was billed.`,
  };
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

import { createHash, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import type { Payload } from '@temporalio/common';
import { AlteredPayloadError, encryptionCodec } from '../encryption/codec';
import { type KeyRing, UnknownKeyError } from '../encryption/keys';
import type { Store } from '../store/store';
import { payloadsToJson, readPayloads, HttpRefusal, withWholeTexts } from './payloads';

/** Where a codec server listens, for whom, and what it works with. */
export interface CodecServerOptions {
  /** An address of this machine, e.g. `127.0.0.1`. */
  readonly host: string;
  /** 0 takes any that is free. */
  readonly port: number;
  /** Of web pages that may ask, e.g. `http://127.0.0.1:8233`. What is no page sends no origin, and passes. */
  readonly origins: readonly string[];
  /** What must follow `Authorization: Bearer`; null asks for none. */
  readonly token: string | null;
  /** The one whose payloads the keys belong to. */
  readonly namespace: string;
  readonly keys: KeyRing;
  /** Where texts lie that travel by reference. */
  readonly store: Store;
  /** Takes what went wrong on our side, in a line. */
  readonly say: (line: string) => void;
}

type CodecService = Omit<CodecServerOptions, 'host' | 'port'>;

/** A codec server that runs. */
export interface CodecServer {
  /** What Temporal's page and command line want as codec endpoint. */
  readonly url: string;
  close(): Promise<void>;
}

/**
 * Lets Temporal's page and command line show what is encrypted, without a key ever leaving this process: they send
 * payloads here, and show what comes back (https://docs.temporal.io/codec-server).
 *
 * - `POST /encode`, `POST /decode`: payloads in, payloads out.
 * - `POST /download`: the same as `/decode`, with long texts whole instead of by reference. Temporal's page sends each
 *   request with `?preserveStorageRefs=true` (temporalio/ui, `src/lib/services/data-encoder.ts`), which keeps `/decode`
 *   from doing so, too.
 *
 * A payload it cannot decrypt is 422 with the reason, a text that is not in the store 404.
 *
 * @throws the reason why it cannot listen there
 */
export async function startCodecServer({ host, port, ...service }: CodecServerOptions): Promise<CodecServer> {
  const server = createServer((request, response) => {
    void answerRequest(request, service).then(({ status, headers, body }) => {
      const type = body === '' ? {} : { 'content-type': 'application/json' };
      response.writeHead(status, { ...type, 'cache-control': 'no-store', ...headers }).end(body);
    });
  });
  server.listen(port, host);
  await once(server, 'listening');
  const address = server.address();
  const bound = typeof address === 'object' ? address?.port : undefined;
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${bound ?? port}`,
    close: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

/** An HTTP answer; its body is JSON. */
interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Answers one request, whatever is wrong with it. */
async function answerRequest(request: IncomingMessage, service: CodecService): Promise<Answer> {
  let cors: Record<string, string> = {};
  try {
    cors = corsHeaders(request.headers, service);
    if (request.method === 'OPTIONS') {
      return { status: 204, headers: { ...cors, ...PREFLIGHT_HEADERS }, body: '' };
    }
    const convert = routeOf(request);
    checkAdmission(request.headers, service);
    const payloads = await convert(await readPayloads(request), service);
    return { status: 200, headers: cors, body: payloadsToJson(payloads) };
  } catch (error) {
    const { status, message, headers } = refusalOf(error, service);
    return { status, headers: { ...cors, ...headers }, body: JSON.stringify({ message }) };
  }
}

type Convert = (payloads: Payload[], service: CodecService) => Promise<Payload[]>;

const encode: Convert = (payloads, { keys }) => encryptionCodec(keys).encode(payloads);
const decode: Convert = (payloads, { keys }) => encryptionCodec(keys).decode(payloads);
const download: Convert = async (payloads, service) => {
  const decoded = await decode(payloads, service);
  return Promise.all(decoded.map((payload) => withWholeTexts(payload, service.store)));
};

/** `/decode` leaves references alone only where the request asks for it, as Temporal's own codec servers do. */
function routeOf({ method, url = '' }: IncomingMessage): Convert {
  const [path = '', query] = url.split('?', 2);
  const keepsRefs = new URLSearchParams(query).get('preserveStorageRefs') === 'true';
  const routes = new Map([
    ['/encode', encode],
    ['/decode', keepsRefs ? decode : download],
    ['/download', download],
  ]);
  const route = routes.get(path);
  if (route === undefined) {
    throw new HttpRefusal(
      404,
      `there is nothing at ${path}: a codec server has ${[...routes.keys()].join(', ')}`,
    );
  }
  if (method === 'POST') return route;
  throw new HttpRefusal(405, `${path} takes POST, and was sent ${String(method)}`, {
    allow: 'POST, OPTIONS',
  });
}

function refusalOf(
  error: unknown,
  { say }: CodecService,
): Pick<HttpRefusal, 'message' | 'headers'> & { status: number } {
  if (error instanceof HttpRefusal) return error;
  if (error instanceof UnknownKeyError || error instanceof AlteredPayloadError) {
    return new HttpRefusal(422, error.message);
  }
  say(`codec server: ${error instanceof Error ? error.message : String(error)}`);
  return {
    status: 500,
    headers: {},
    message: 'the codec server failed; what went wrong is written where it runs',
  };
}

/**
 * Headers that let a page read the answer (https://fetch.spec.whatwg.org/#http-cors-protocol).
 *
 * @throws HttpRefusal for a page of another origin, so that no page of a stranger uses a reader's way to the keys
 */
function corsHeaders({ origin }: IncomingHttpHeaders, { origins }: CodecService): Record<string, string> {
  if (origin === undefined) return {};
  if (!origins.includes(origin)) {
    throw new HttpRefusal(
      403,
      `pages of ${origin} may not ask this codec server: start it with --origin ${origin} to let them`,
    );
  }
  return {
    'access-control-allow-origin': origin,
    'access-control-allow-credentials': 'true',
    vary: 'origin',
  };
}

/** What a browser asks for before it sends the headers that Temporal's page adds. */
const PREFLIGHT_HEADERS: Readonly<Record<string, string>> = {
  'access-control-allow-methods': 'POST',
  'access-control-allow-headers': 'authorization, authorization-extras, content-type, x-namespace',
  'access-control-max-age': '3600',
};

/** @throws HttpRefusal for a token that is missing or wrong, and for another namespace */
function checkAdmission(headers: IncomingHttpHeaders, { token, namespace }: CodecService): void {
  const shown = /^Bearer +(\S.*)$/i.exec(headers.authorization ?? '')?.[1] ?? '';
  if (token !== null && !isEqual(shown, token)) {
    throw new HttpRefusal(401, 'this codec server wants "Authorization: Bearer" with its token', {
      'www-authenticate': 'Bearer',
    });
  }
  const asked = headers['x-namespace'];
  if (asked !== undefined && asked !== namespace) {
    throw new HttpRefusal(
      403,
      `this codec server has the keys of namespace ${JSON.stringify(namespace)}, not of ${JSON.stringify(asked)}`,
    );
  }
}

/** In a time that shows neither how much of a guess is right nor how long the token is. */
function isEqual(guess: string, token: string): boolean {
  const digestOf = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(digestOf(guess), digestOf(token));
}

import { hash, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import type { Payload } from '@temporalio/common';
import { AlteredPayloadError, encryptionCodec } from '../encryption/codec';
import { type KeyRing, UnknownKeyError } from '../encryption/key-ring';
import { reasonOf } from '../errors';
import { listen, type Listening } from '../listen';
import type { Store } from '../store/store';
import { HttpRefusal, payloadsToJson, readPayloads, withWholeTexts } from './payloads';

interface CodecService {
  /** Origins of web pages that may ask, e.g. `http://127.0.0.1:8233`. Other programs send no origin, and pass. */
  readonly origins: readonly string[];
  /** Token expected behind `Authorization: Bearer`; null asks for none. */
  readonly token: string | null;
  readonly namespace: string;
  readonly keys: KeyRing;
  readonly store: Store;
  readonly say: (line: string) => void;
}

/**
 * Shows Temporal's page and command line what is encrypted (https://docs.temporal.io/codec-server), without a key
 * leaving this process: `POST /encode` and `POST /decode` convert payloads; `/download`, and `/decode` without
 * `?preserveStorageRefs=true`, give long texts whole. A payload that cannot be decrypted is 422, a text that is not in
 * the store 404.
 */
export async function startCodecServer({
  host,
  port,
  ...service
}: CodecService & { readonly host: string; readonly port: number }): Promise<Listening> {
  const server = createServer((request, response) => {
    void answerRequest(request, service).then(({ status, headers, body }) => {
      response.writeHead(status, { 'cache-control': 'no-store', ...headers }).end(body);
    });
  });
  return listen(server, port, host);
}

const JSON_TYPE = { 'content-type': 'application/json' };

async function answerRequest(
  request: IncomingMessage,
  service: CodecService,
): Promise<{ status: number; headers: Record<string, string>; body: string }> {
  let cors = {};
  try {
    cors = corsHeaders(request.headers, service);
    if (request.method === 'OPTIONS') {
      return { status: 204, headers: { ...cors, ...PREFLIGHT_HEADERS }, body: '' };
    }
    const convert = routeOf(request, service);
    checkAdmission(request.headers, service);
    const payloads = await convert(await readPayloads(request));
    return { status: 200, headers: { ...cors, ...JSON_TYPE }, body: payloadsToJson(payloads) };
  } catch (error) {
    const { status, message, headers } = refusalOf(error, service);
    return { status, headers: { ...cors, ...JSON_TYPE, ...headers }, body: JSON.stringify({ message }) };
  }
}

type Convert = (payloads: Payload[]) => Promise<Payload[]>;

function routeOf({ method, url = '' }: IncomingMessage, { keys, store }: CodecService): Convert {
  const [path = '', query] = url.split('?', 2);
  const codec = encryptionCodec(keys);
  const decode: Convert = (payloads) => codec.decode(payloads);
  const download: Convert = async (payloads) => withWholeTexts(await decode(payloads), store);
  const keepsRefs = new URLSearchParams(query).get('preserveStorageRefs') === 'true';
  const routes = new Map([
    ['/encode', (payloads: Payload[]) => codec.encode(payloads)],
    ['/decode', keepsRefs ? decode : download],
    ['/download', download],
  ]);
  const route = routes.get(path);
  if (route === undefined) {
    const known = [...routes.keys()].join(', ');
    throw new HttpRefusal(404, `there is nothing at ${path}: a codec server has ${known}`);
  }
  if (method === 'POST') return route;
  const allowed = { allow: 'POST, OPTIONS' };
  throw new HttpRefusal(405, `${path} takes POST, and was sent ${String(method)}`, allowed);
}

function refusalOf(error: unknown, { say }: CodecService): HttpRefusal {
  if (error instanceof HttpRefusal) return error;
  if (error instanceof UnknownKeyError || error instanceof AlteredPayloadError) {
    return new HttpRefusal(422, error.message);
  }
  say(`codec server: ${reasonOf(error)}`);
  return new HttpRefusal(500, 'the codec server failed; what went wrong is written where it runs');
}

/** Headers that let a page read the answer. @throws HttpRefusal for a page of another origin */
function corsHeaders({ origin }: IncomingHttpHeaders, { origins }: CodecService): Record<string, string> {
  if (origin === undefined) return {};
  if (origins.includes(origin)) {
    return {
      'access-control-allow-origin': origin,
      'access-control-allow-credentials': 'true',
      vary: 'origin',
    };
  }
  throw new HttpRefusal(
    403,
    `pages of ${origin} may not ask this codec server: start it with --origin ${origin} to let them`,
  );
}

/** For the headers that Temporal's page adds. */
const PREFLIGHT_HEADERS = {
  'access-control-allow-methods': 'POST',
  'access-control-allow-headers': 'authorization, authorization-extras, content-type, x-namespace',
  'access-control-max-age': '3600',
};

/** @throws HttpRefusal for a token that is missing or wrong, and for another namespace */
function checkAdmission(headers: IncomingHttpHeaders, { token, namespace }: CodecService): void {
  const shown = /^Bearer +(\S.*)$/i.exec(headers.authorization ?? '')?.[1] ?? '';
  if (token !== null && !isEqual(shown, token)) {
    const challenge = { 'www-authenticate': 'Bearer' };
    throw new HttpRefusal(401, 'this codec server wants "Authorization: Bearer" with its token', challenge);
  }
  const asked = headers['x-namespace'];
  if (asked === undefined || asked === namespace) return;
  const [ours, theirs] = [namespace, asked].map((name) => JSON.stringify(name));
  throw new HttpRefusal(403, `this codec server has the keys of namespace ${ours}, not of ${theirs}`);
}

/** In a time that shows neither how much of a guess is right nor how long the token is. */
function isEqual(guess: string, token: string): boolean {
  return timingSafeEqual(hash('sha256', guess, 'buffer'), hash('sha256', token, 'buffer'));
}

import { hash, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import type { Payload } from '@temporalio/common';
import { z } from 'zod';
import { AlteredPayloadError, encryptionCodec } from '../encryption/codec';
import { type KeyRing, UnknownKeyError } from '../encryption/key-ring';
import { reasonOf } from '../errors';
import { findJsonExcess } from '../network/json-bounds';
import { listen, type Listening } from '../network/listen';
import { isText, type TextRef } from '../protocol/text';
import type { Store } from '../store/store';
import { readText, TextNotFoundError } from '../store/texts';

interface CodecService {
  /** Origins of web pages that are let in, e.g. `http://127.0.0.1:8233`. Other programs send none, and are let in. */
  readonly origins: readonly string[];
  /** Token expected after `Authorization: Bearer`; null requires none. */
  readonly token: string | null;
  readonly namespace: string;
  readonly keys: KeyRing;
  readonly store: Store;
  readonly say: (line: string) => void;
}

/**
 * Starts a codec server (https://docs.temporal.io/codec-server), which decrypts payloads for Temporal's web UI and
 * command line without a key leaving this process. `POST /encode` and `POST /decode` convert payloads; `/download`,
 * and `/decode` without `?preserveStorageRefs=true`, return long texts whole. The status is 422 if a payload cannot
 * be decrypted, and 404 if a text is not in the store.
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
    throw new HttpRefusal(404, `there is nothing at ${path}: this codec server has only ${known}`);
  }
  if (method === 'POST') return route;
  const allowed = { allow: 'POST, OPTIONS' };
  throw new HttpRefusal(405, `${path} takes only POST, not ${String(method)}`, allowed);
}

function refusalOf(error: unknown, { say }: CodecService): HttpRefusal {
  if (error instanceof HttpRefusal) return error;
  if (error instanceof UnknownKeyError || error instanceof AlteredPayloadError) {
    return new HttpRefusal(422, error.message);
  }
  say(`codec server: ${reasonOf(error)}`);
  return new HttpRefusal(500, 'the codec server failed; see its log for the cause');
}

/** Returns headers that let a page read the response. @throws HttpRefusal if the page's origin is not allowed */
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
    `pages of ${origin} may not use this codec server: allow them by starting it with --origin ${origin}`,
  );
}

/** Preflight response for the headers that Temporal's web UI adds. */
const PREFLIGHT_HEADERS = {
  'access-control-allow-methods': 'POST',
  'access-control-allow-headers': 'authorization, authorization-extras, content-type, x-namespace',
  'access-control-max-age': '3600',
};

/** @throws HttpRefusal if the token is missing or wrong, or the namespace is another */
function checkAdmission(headers: IncomingHttpHeaders, { token, namespace }: CodecService): void {
  const shown = /^Bearer +(\S.*)$/i.exec(headers.authorization ?? '')?.[1] ?? '';
  if (token !== null && !isEqual(shown, token)) {
    const challenge = { 'www-authenticate': 'Bearer' };
    throw new HttpRefusal(401, 'this codec server needs "Authorization: Bearer" with its token', challenge);
  }
  const asked = headers['x-namespace'];
  if (asked === undefined || asked === namespace) return;
  const [ours, theirs] = [namespace, asked].map((name) => JSON.stringify(name));
  throw new HttpRefusal(403, `this codec server has the keys of namespace ${ours}, not of ${theirs}`);
}

/** Compares in constant time: the duration reveals neither how much of a guess is right nor the token's length. */
function isEqual(guess: string, token: string): boolean {
  return timingSafeEqual(hash('sha256', guess, 'buffer'), hash('sha256', token, 'buffer'));
}

/** Size limit of a request: Temporal sends at most 2 MB per payload and 4 MB per history page, without base64. */
const MAX_BODY_BYTES = 16 * 1024 * 1024;

const isBytes = z.custom<Uint8Array>((value) => value instanceof Uint8Array);
const bytesSchema = z.codec(z.base64(), isBytes, {
  decode: (text) => Buffer.from(text, 'base64'),
  encode: (bytes) => Buffer.from(bytes).toString('base64'),
});

/** Payloads in proto3's JSON format, with bytes in base64. */
const bodySchema = z.object({
  payloads: z.array(
    z.object({ metadata: z.record(z.string(), bytesSchema).nullish(), data: bytesSchema.nullish() }),
  ),
});

/** @throws HttpRefusal for another content type, a body that is too long, or a body without payloads */
async function readPayloads(request: IncomingMessage): Promise<Payload[]> {
  const type = request.headers['content-type'] ?? 'none';
  if (!/^application\/json\s*(;|$)/i.test(type)) {
    throw new HttpRefusal(415, `the content type must be application/json, but is ${type}`);
  }
  const body = bodySchema.safeParse(await readJson(request));
  if (body.success) return body.data.payloads;
  throw new HttpRefusal(
    400,
    'the body must be {"payloads": [{"metadata": {…}, "data": …}, …]}, values of metadata and data in base64',
  );
}

function payloadsToJson(payloads: Payload[]): string {
  return JSON.stringify(bodySchema.encode({ payloads }));
}

async function readJson(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length;
    // An oversized body is read to its end, but not kept: the sender reads the response only then.
    if (length <= MAX_BODY_BYTES) chunks.push(chunk);
  }
  if (length > MAX_BODY_BYTES) {
    throw new HttpRefusal(
      413,
      `the body is longer than ${MAX_BODY_BYTES} bytes: send fewer payloads at once`,
    );
  }
  const json = Buffer.concat(chunks).toString('utf8');
  const excess = findJsonExcess(json);
  if (excess !== null) throw new HttpRefusal(413, `the body holds ${excess}: send fewer payloads at once`);
  try {
    return JSON.parse(json);
  } catch {
    throw new HttpRefusal(400, 'the body is not JSON');
  }
}

/** Limit of all texts together: far more than a person reads, and a process can hold it several times. */
const MAX_TEXT_BYTES = 64 * 1024 * 1024;

/** Replaces references with whole texts. @throws HttpRefusal if one is missing, or they are too long together */
async function withWholeTexts(payloads: readonly Payload[], store: Store): Promise<Payload[]> {
  const texts = new Map<string, string>();
  let length = 0;
  const whole: Payload[] = [];
  for (const payload of payloads) {
    const value = valueOf(payload);
    const refs = [...refsIn(value)];
    for (const ref of refs) {
      const text = texts.get(ref.ref) ?? (await load(ref, store));
      texts.set(ref.ref, text);
      length += Buffer.byteLength(text);
      if (length > MAX_TEXT_BYTES) {
        throw new HttpRefusal(
          413,
          `the texts of these payloads are longer than ${MAX_TEXT_BYTES} bytes: read them with temporal-conductor trace`,
        );
      }
    }
    const json = JSON.stringify(value, (_, part: unknown) => (isTextRef(part) ? texts.get(part.ref) : part));
    whole.push(refs.length === 0 ? payload : { ...payload, data: new TextEncoder().encode(json) });
  }
  return whole;
}

/** Returns undefined if the payload is not JSON. */
function valueOf({ metadata, data }: Payload): unknown {
  if (data == null || Buffer.from(metadata?.encoding ?? []).toString('utf8') !== 'json/plain')
    return undefined;
  return JSON.parse(Buffer.from(data).toString('utf8'));
}

function* refsIn(value: unknown): Generator<TextRef> {
  if (typeof value !== 'object' || value === null) return;
  if (isTextRef(value)) yield value;
  else for (const part of Object.values(value)) yield* refsIn(part);
}

function isTextRef(value: unknown): value is TextRef {
  return isText(value) && typeof value !== 'string' && /^sha256-[0-9a-f]{64}$/.test(value.ref);
}

async function load(ref: TextRef, store: Store): Promise<string> {
  try {
    return await readText(store, ref);
  } catch (error) {
    if (!(error instanceof TextNotFoundError)) throw error;
    const remedy = 'with ?preserveStorageRefs=true, /decode leaves references as they are';
    throw new HttpRefusal(404, `${error.message}; ${remedy}`);
  }
}

/** Refusal of a request: the response's status (RFC 9110, section 15) and message. */
class HttpRefusal extends Error {
  constructor(
    readonly status: number,
    message: string,
    readonly headers: Readonly<Record<string, string>> = {},
  ) {
    super(message);
  }
}

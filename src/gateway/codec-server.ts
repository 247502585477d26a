import { hash, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';
import { getRequestListener } from '@hono/node-server';
import type { Payload } from '@temporalio/common';
import { type Context, Hono, type MiddlewareHandler } from 'hono';
import { cors } from 'hono/cors';
import { z } from 'zod';
import { AlteredPayloadError, encryptionCodec } from '../encryption/codec';
import { type KeyRing, UnknownKeyError } from '../encryption/key-ring';
import { listen, type Listening } from '../network/listen';
import { isText, type TextRef } from '../protocol/text';
import type { Store } from '../store/store';
import { readText, TextNotFoundError } from '../store/texts';
import { limitBody } from './limit-body';
import { asRefusal, Refusal } from './refusal';

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

/** Size limit of a request: Temporal sends at most 2 MB per payload and 4 MB per history page, without base64. */
const MAX_BODY_BYTES = 16 * 1024 * 1024;

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
  const answer = getRequestListener(buildApp(service).fetch, { overrideGlobalObjects: false });
  const server = createServer((request, response) => void answer(request, response));
  return listen(server, port, host);
}

function buildApp(service: CodecService): Hono {
  const { keys, store, origins, say } = service;
  const app = new Hono();
  app.onError((error, c) => {
    const { status, message, headers } = asRefusal(error, say, 'codec server');
    return c.json({ message }, status, headers);
  });
  app.use(refuseCaching, checkOrigin(origins), letPagesRead(origins));
  const routes = convertersOf(keys, store);
  app.notFound((c) => {
    const message = `there is nothing at ${c.req.path.slice(0, 200)}: this codec server has only ${Object.keys(routes).join(', ')}`;
    throw new Refusal(404, message, { reason: 'unknown_url' });
  });
  for (const [path, convert] of Object.entries(routes)) {
    app.post(
      path,
      checkAdmission(service),
      limitBody(() => MAX_BODY_BYTES),
      async (c) => {
        const payloads = await convert(await readPayloads(c), c);
        return c.json(bodySchema.encode({ payloads }));
      },
    );
    app.all(path, (c) => {
      c.header('allow', 'POST, OPTIONS');
      const message = `${path} takes only POST, not ${c.req.method}: send the payloads by POST`;
      throw new Refusal(405, message, { reason: 'method_not_allowed' });
    });
  }
  return app;
}

type Convert = (payloads: Payload[], c: Context) => Promise<Payload[]>;

function convertersOf(keys: KeyRing, store: Store): Record<string, Convert> {
  const codec = encryptionCodec(keys);
  const decode: Convert = (payloads) => codec.decode(payloads).catch(explain);
  const download: Convert = async (payloads, c) => withWholeTexts(await decode(payloads, c), store);
  return {
    '/encode': (payloads) => codec.encode(payloads),
    '/decode': (payloads, c) =>
      (c.req.query('preserveStorageRefs') === 'true' ? decode : download)(payloads, c),
    '/download': download,
  };
}

/** @throws Refusal for a payload that these keys cannot decrypt */
function explain(error: unknown): never {
  if (!(error instanceof UnknownKeyError || error instanceof AlteredPayloadError)) throw error;
  throw new Refusal(422, error.message, { reason: error.code });
}

const refuseCaching: MiddlewareHandler = async (c, next) => {
  c.header('cache-control', 'no-store');
  await next();
};

/** Refuses pages of other origins. */
function checkOrigin(origins: readonly string[]): MiddlewareHandler {
  return async (c, next) => {
    const origin = c.req.header('origin');
    if (origin !== undefined && !origins.includes(origin)) {
      const remedy = `allow them by starting it with --origin ${origin}`;
      const message = `pages of ${origin} may not use this codec server: ${remedy}`;
      throw new Refusal(403, message, { reason: 'foreign_origin' });
    }
    await next();
  };
}

/** Answers preflights for the headers that Temporal's web UI adds, and lets its page read responses. */
function letPagesRead(origins: readonly string[]): MiddlewareHandler {
  return cors({
    origin: [...origins],
    credentials: true,
    allowMethods: ['POST'],
    allowHeaders: ['authorization', 'authorization-extras', 'content-type', 'x-namespace'],
    maxAge: 3600,
  });
}

/** Refuses a missing or wrong token, and another namespace. */
function checkAdmission({ token, namespace }: CodecService): MiddlewareHandler {
  return async (c, next) => {
    const shown = /^Bearer +(\S.*)$/i.exec(c.req.header('authorization') ?? '')?.[1] ?? '';
    if (token !== null && !isEqual(shown, token)) {
      c.header('www-authenticate', 'Bearer');
      const message =
        'this codec server needs "Authorization: Bearer" with its token: send what CONDUCTOR_CODEC_TOKEN holds there';
      throw new Refusal(401, message, { reason: 'invalid_token' });
    }
    const asked = c.req.header('x-namespace') ?? namespace;
    if (asked !== namespace) {
      const [ours, theirs] = [namespace, asked].map((name) => JSON.stringify(name));
      const message = `this codec server has the keys of namespace ${ours}, not of ${theirs}: ask one that was started for that namespace`;
      throw new Refusal(403, message, { reason: 'other_namespace' });
    }
    await next();
  };
}

/** Compares in constant time: the duration reveals neither how much of a guess is right nor the token's length. */
function isEqual(guess: string, token: string): boolean {
  return timingSafeEqual(hash('sha256', guess, 'buffer'), hash('sha256', token, 'buffer'));
}

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

/** @throws Refusal for another content type, or a body without payloads */
async function readPayloads({ req }: Context): Promise<Payload[]> {
  const type = req.header('content-type') ?? 'none';
  if (!/^application\/json\s*(;|$)/i.test(type)) {
    const message = `the content type must be application/json, but is ${type.slice(0, 200)}`;
    throw new Refusal(415, message, { reason: 'unsupported_media_type' });
  }
  const body = bodySchema.safeParse(await req.json().catch(() => null));
  if (body.success) return body.data.payloads;
  const message =
    'the body must be JSON, {"payloads": [{"metadata": {…}, "data": …}, …]}, values of metadata and data in base64';
  throw new Refusal(400, message, { reason: 'bad_request' });
}

/** Limit of all texts together: far more than a person reads, and a process can hold it several times. */
const MAX_TEXT_BYTES = 64 * 1024 * 1024;

/** Replaces references with whole texts. @throws Refusal if one is missing, or they are too long together */
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
        const message = `the texts of these payloads are longer than ${MAX_TEXT_BYTES} bytes: read them with temporal-conductor trace`;
        throw new Refusal(413, message, { reason: 'too_large' });
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
    throw new Refusal(404, `${error.message}; ${remedy}`, { reason: 'not_found' });
  }
}

import type { IncomingMessage } from 'node:http';
import type { Payload } from '@temporalio/common';
import { encode as toUtf8 } from '@temporalio/common/lib/encoding';
import { z } from 'zod';
import { ConductorError } from '../protocol/errors';
import type { TextRef } from '../protocol/text';
import type { Store } from '../store/store';
import { readText, TextNotFoundError } from '../store/texts';

/** Temporal sends no payload over 2 MB and no page of a history over 4 MB, base64 not counted. */
const MAX_BODY_BYTES = 16 * 1024 * 1024;

/** Payloads as proto3 writes them in JSON: bytes are base64. */
const bodySchema = z.object({
  payloads: z.array(
    z.object({
      metadata: z.record(z.string(), z.base64()).nullish(),
      data: z.base64().nullish(),
    }),
  ),
});

/**
 * The payloads of a request.
 *
 * @throws Refusal for another type of content, a body that is too long, and one that holds no payloads
 */
export async function readPayloads(request: IncomingMessage): Promise<Payload[]> {
  const type = request.headers['content-type'] ?? 'nothing';
  if (!/^application\/json\s*(;|$)/i.test(type)) {
    throw new HttpRefusal(415, `a codec server reads application/json, and was sent ${type}`);
  }
  const { success, data } = bodySchema.safeParse(parseJson(await readBody(request)));
  if (!success) {
    throw new HttpRefusal(
      400,
      'the body must be {"payloads": [{"metadata": {…}, "data": …}, …]}, values of metadata and data in base64',
    );
  }
  return data.payloads.map(({ metadata, data }) => ({
    ...(metadata && { metadata: mapValues(metadata, (text) => Buffer.from(text, 'base64')) }),
    ...(data != null && { data: Buffer.from(data, 'base64') }),
  }));
}

/** Payloads in the same form again. */
export function payloadsToJson(payloads: readonly Payload[]): string {
  const wire = payloads.map(({ metadata, data }) => ({
    ...(metadata && { metadata: mapValues(metadata, toBase64) }),
    ...(data && { data: toBase64(data) }),
  }));
  return JSON.stringify({ payloads: wire });
}

async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request) {
    const piece = chunk as Buffer;
    bytes += piece.length;
    // What is too long is read to its end all the same, and let go: its sender gets to read the answer.
    if (bytes <= MAX_BODY_BYTES) chunks.push(piece);
  }
  if (bytes <= MAX_BODY_BYTES) return Buffer.concat(chunks);
  throw new HttpRefusal(413, `the body is over ${MAX_BODY_BYTES} bytes: send fewer payloads at once`);
}

function parseJson(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    throw new HttpRefusal(400, 'the body is no JSON');
  }
}

function toBase64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64');
}

function mapValues<From, To>(record: Record<string, From>, change: (value: From) => To): Record<string, To> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, change(value)]));
}

/** Far more than a person reads, and what a process bears to hold some times over. */
const MAX_BYTES = 64 * 1024 * 1024;

/**
 * The same payload with every text that travels by reference whole, in the place of its reference. A payload without
 * any is left as it is, to the byte.
 *
 * @throws Refusal where a text is not in the store, or all of them are too much for one answer
 */
export async function withWholeTexts(payload: Payload, store: Store): Promise<Payload> {
  const { metadata, data } = payload;
  if (data == null || Buffer.from(metadata?.encoding ?? []).toString('utf8') !== 'json/plain') return payload;
  const value: unknown = JSON.parse(Buffer.from(data).toString('utf8'));
  const refs = [...refsIn(value)];
  if (refs.length === 0) return payload;
  const bytes = refs.reduce((sum, ref) => sum + ref.bytes, 0);
  if (bytes > MAX_BYTES) {
    throw new HttpRefusal(
      413,
      `the texts of this payload are ${bytes} bytes, over ${MAX_BYTES}: read them with temporal-conductor trace`,
    );
  }
  const texts = new Map<string, string>();
  for (const ref of refs) texts.set(ref.ref, await load(ref, store));
  return { ...payload, data: toUtf8(JSON.stringify(value, (_, part) => wholeOf(part, texts))) };
}

function* refsIn(value: unknown): Generator<TextRef> {
  if (typeof value !== 'object' || value === null) return;
  if (isTextRef(value)) yield value;
  else for (const part of Object.values(value)) yield* refsIn(part);
}

function wholeOf(part: unknown, texts: ReadonlyMap<string, string>): unknown {
  return isTextRef(part) ? texts.get(part.ref) : part;
}

function isTextRef(value: unknown): value is TextRef {
  if (typeof value !== 'object' || value === null) return false;
  const { ref, bytes, preview }: { ref?: unknown; bytes?: unknown; preview?: unknown } = value;
  return (
    typeof ref === 'string' &&
    /^sha256-[0-9a-f]{64}$/.test(ref) &&
    typeof bytes === 'number' &&
    typeof preview === 'string'
  );
}

async function load(ref: TextRef, store: Store): Promise<string> {
  try {
    return await readText(store, ref);
  } catch (error) {
    if (!(error instanceof TextNotFoundError)) throw error;
    throw new HttpRefusal(
      404,
      `${error.message}; with ?preserveStorageRefs=true, /decode leaves references as they are`,
    );
  }
}

/** A request that is not answered as it was asked: what the client is told, and under which status (RFC 9110, 15). */
export class HttpRefusal extends ConductorError {
  override readonly name = 'HttpRefusal';
  readonly code = 'HttpRefusal';

  constructor(
    readonly status: 400 | 401 | 403 | 404 | 405 | 413 | 415 | 422,
    message: string,
    readonly headers: Readonly<Record<string, string>> = {},
  ) {
    super(message);
  }
}

import type { IncomingMessage } from 'node:http';
import type { Payload } from '@temporalio/common';
import { z } from 'zod';
import { isText, type TextRef } from '../protocol/text';
import type { Store } from '../store/store';
import { readText, TextNotFoundError } from '../store/texts';

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
export async function readPayloads(request: IncomingMessage): Promise<Payload[]> {
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

export function payloadsToJson(payloads: Payload[]): string {
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
  try {
    return JSON.parse(Buffer.concat(chunks).toString('utf8'));
  } catch {
    throw new HttpRefusal(400, 'the body is not JSON');
  }
}

/** Limit of all texts together: far more than a person reads, and a process can hold it several times. */
const MAX_TEXT_BYTES = 64 * 1024 * 1024;

/** Replaces references with whole texts. @throws HttpRefusal if one is missing, or they are too long together */
export async function withWholeTexts(payloads: readonly Payload[], store: Store): Promise<Payload[]> {
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
export class HttpRefusal extends Error {
  constructor(
    readonly status: number,
    message: string,
    readonly headers: Readonly<Record<string, string>> = {},
  ) {
    super(message);
  }
}

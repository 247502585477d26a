import type { IncomingMessage } from 'node:http';
import type { Payload } from '@temporalio/common';
import { z } from 'zod';
import { Refusal } from './refusal';

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
    throw new Refusal(415, `a codec server reads application/json, and was sent ${type}`);
  }
  const { success, data } = bodySchema.safeParse(parseJson(await readBody(request)));
  if (!success) {
    throw new Refusal(
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
  throw new Refusal(413, `the body is over ${MAX_BODY_BYTES} bytes: send fewer payloads at once`);
}

function parseJson(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    throw new Refusal(400, 'the body is no JSON');
  }
}

function toBase64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64');
}

function mapValues<From, To>(record: Record<string, From>, change: (value: From) => To): Record<string, To> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, change(value)]));
}

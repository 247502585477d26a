import type { MiddlewareHandler } from 'hono';
import type { Env } from '../gateway';
import { Refusal } from '../refusal';

/**
 * Maximum length of JSON that becomes one message to Temporal, whose limit is 2 MiB: re-serialised, a number such as
 * `1e20` can be about four times as long.
 */
export const MOST_MESSAGE_BYTES = 512 * 1024;

/**
 * Refuses a body that is too long. Hono's `bodyLimit` fails on chunked bodies unless the server has replaced the
 * global `Request`.
 */
export function limitBody(mostBytes: number): MiddlewareHandler<Env> {
  return async (c, next) => {
    const { raw } = c.req;
    // The HTTP parser reads no more than the stated length.
    if (Number(c.req.header('content-length')) > mostBytes) throw tooLong(mostBytes);
    const isChunked = c.req.header('transfer-encoding') !== undefined;
    // No route reads the body of a request with another method.
    if (isChunked && raw.method === 'POST' && raw.body !== null) {
      const { url, method, headers, signal } = raw;
      c.req.raw = new Request(url, { method, headers, signal, body: await readAtMost(raw.body, mostBytes) });
    }
    await next();
  };
}

/** @throws Refusal once the body exceeds the limit */
async function readAtMost(body: AsyncIterable<Uint8Array>, mostBytes: number): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of body) {
    size += part.length;
    if (size > mostBytes) throw tooLong(mostBytes);
    parts.push(part);
  }
  return Buffer.concat(parts);
}

function tooLong(mostBytes: number): Refusal {
  return new Refusal(413, `the request is longer than ${mostBytes} bytes: shorten it`, {
    reason: 'too_large',
  });
}

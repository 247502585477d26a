import type { MiddlewareHandler } from 'hono';
import type { Env } from '../gateway';
import { Refusal } from '../refusal';

/**
 * Longest JSON that becomes one message to Temporal, which takes 2 MiB: a number may come to be written in four times as many
 * characters.
 */
export const MOST_MESSAGE_BYTES = 512 * 1024;

/**
 * Refuses a body that is too long. Hono's `bodyLimit` fails at bodies that come in chunks, unless the server has replaced the
 * global `Request`.
 */
export function limitBody(mostBytes: number): MiddlewareHandler<Env> {
  return async (c, next) => {
    const { raw } = c.req;
    // A request whose length is given has no more than that.
    if (Number(c.req.header('content-length')) > mostBytes) throw tooLong(mostBytes);
    const isChunked = c.req.header('transfer-encoding') !== undefined;
    // Nothing reads the body of any other method.
    if (isChunked && raw.method === 'POST' && raw.body !== null) {
      const { url, method, headers, signal } = raw;
      c.req.raw = new Request(url, { method, headers, signal, body: await readAtMost(raw.body, mostBytes) });
    }
    await next();
  };
}

/** @throws Refusal once more has come */
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
  return new Refusal(413, `the request has over ${mostBytes} bytes: shorten it`, { reason: 'too_large' });
}

import type { MiddlewareHandler } from 'hono';
import { findJsonExcess } from '../network/json-bounds';
import { Refusal } from './refusal';

/**
 * Maximum length of JSON that becomes one message to Temporal, whose limit is 2 MiB: re-serialised, a number such as
 * `1e20` can be about four times as long.
 */
export const MOST_MESSAGE_BYTES = 512 * 1024;

/**
 * Reads the body of every request before its route does, and refuses one that is too long, nests too deep or holds too
 * many values, before anything parses it. Hono's `bodyLimit` fails on chunked bodies unless the server has replaced
 * the global `Request`.
 */
export function limitBody(mostBytesOf: (path: string) => number): MiddlewareHandler {
  return async (c, next) => {
    const { raw } = c.req;
    const mostBytes = mostBytesOf(c.req.path);
    // The HTTP parser reads no more than the stated length.
    if (Number(c.req.header('content-length')) > mostBytes) throw tooLong(mostBytes);
    // No route reads the body of a request with another method.
    if (raw.method === 'POST' && raw.body !== null) {
      if (c.req.header('transfer-encoding') !== undefined) {
        const { url, method, headers, signal } = raw;
        c.req.raw = new Request(url, {
          method,
          headers,
          signal,
          body: await readAtMost(raw.body, mostBytes),
        });
      }
      // Hono keeps the text for the route.
      const excess = findJsonExcess(await c.req.text().catch(notWhole));
      if (excess !== null) {
        throw new Refusal(413, `the request holds ${excess}: send less at once`, { reason: 'too_large' });
      }
    }
    await next();
  };
}

function notWhole(cause: unknown): never {
  const message = 'the body of the request did not arrive whole: send it again';
  throw new Refusal(400, message, { reason: 'bad_request' }, { cause });
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

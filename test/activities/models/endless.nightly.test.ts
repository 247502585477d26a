import { randomFillSync } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { pipeline, Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { sendOnce } from '../../../src/activities/models';
import { FAILURES } from '../../../src/protocol/failures';
import { useServer } from '../../support/serve';
import { aRequest, DIALECTS, failureOf } from './ask';

const MIB = 1024 * 1024;
/** A gzip member of about 1 KB that unpacks to 1 MiB; a gzip stream may have any number of members. */
const MEMBER = gzipSync(Buffer.alloc(MIB, ' '));

const server = useServer();

function* endless(chunk: Buffer, onChunk: () => void = () => undefined): Generator<Buffer> {
  for (;;) {
    onChunk();
    yield chunk;
  }
}

/** Returns a handler that sends an endless gzip bomb. */
function bomb(status: number): (response: ServerResponse) => void {
  return (response) => {
    response.writeHead(status, { 'content-type': 'application/json', 'content-encoding': 'gzip' });
    pipeline(Readable.from(endless(MEMBER)), response, () => undefined);
  };
}

describe.each(DIALECTS)('$name', ({ complete, card }) => {
  test('aborts an endless answer, and does not retry', async () => {
    server.answer = bomb(200);
    const failure = await failureOf(complete, aRequest(card(server.url)));
    expect(failure).toMatchObject({ type: FAILURES.badResponse, retryable: false, billed: 'unknown' });
    expect(failure?.message).toContain('sent an answer that cannot be read: it has more than 64 MiB. ');
  });

  test('aborts an endless error', async () => {
    server.answer = bomb(400);
    expect(await failureOf(complete, aRequest(card(server.url)))).toMatchObject({ retryable: false });
  });
});

test('reads no more from a server than the limit, plus network buffers', async () => {
  let mebibytes = 0;
  const closed = new Promise((resolve) => {
    server.answer = (response) => {
      const chunks = endless(randomFillSync(Buffer.alloc(MIB)), () => (mebibytes += 1));
      pipeline(Readable.from(chunks, { objectMode: true, highWaterMark: 1 }), response, resolve);
    };
  });
  await expect(sendOnce(server.url)).rejects.toMatchObject({
    diagnosis: { reason: 'it has more than 64 MiB' },
  });
  await closed;
  expect(mebibytes).toBeGreaterThan(63);
  expect(mebibytes).toBeLessThan(96);
});

test('a response of exactly the maximum size is read in full', async () => {
  server.answer = (response) => response.end(Buffer.alloc(64 * MIB, 'x'));
  expect((await (await sendOnce(server.url)).arrayBuffer()).byteLength).toBe(64 * MIB);
});

test.each([200, 204, 304, 307, 599])('status %i passes', async (status) => {
  server.answer = (response) => response.writeHead(status).end();
  expect((await sendOnce(server.url)).status).toBe(status);
});

import type { ServerResponse } from 'node:http';
import { Hono } from 'hono';
import { frameOf, streamEvents } from '../../src/gateway/event-stream';
import type { Env } from '../../src/gateway/gateway';

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

const SECOND = 1000;
const never = (): Promise<never> => new Promise(() => undefined);

/** Opens a stream of these frames, without a socket. */
async function open(frames: AsyncIterator<string>) {
  const onGone = jest.fn();
  const destroy = jest.fn();
  const outgoing = { destroy } as Partial<ServerResponse> as ServerResponse;
  const app = new Hono<Env>().get('/', (c) =>
    streamEvents(
      c,
      {
        open: () => frames,
        nothing: () => frameOf('nothing'),
        failed: (error) => frameOf(String(error), 'error'),
        onGone,
      },
      { 'x-conductor-solve': 'one' },
    ),
  );
  const response = await app.request('/', {}, { outgoing });
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  if (reader === undefined) throw new Error('there is no body');
  return { response, onGone, destroy, reader };
}

type Reader = Awaited<ReturnType<typeof open>>['reader'];

/** Returns what arrives while time passes, one second at a time. */
async function readFor(reader: Reader, seconds: number): Promise<{ at: number; text: string }[]> {
  const found: { at: number; text: string }[] = [];
  const begin = Date.now();
  void (async () => {
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      found.push({ at: (Date.now() - begin) / SECOND, text: next.value });
    }
    found.push({ at: (Date.now() - begin) / SECOND, text: 'end' });
  })();
  for (let second = 0; second < seconds; second += 1) await jest.advanceTimersByTimeAsync(SECOND);
  return found;
}

async function* framesAt(...times: readonly number[]): AsyncGenerator<string> {
  for (const ms of times) {
    await new Promise((resolve) => setTimeout(resolve, ms));
    yield frameOf(String(ms));
  }
}

test('the first bytes come at once, and frames as they arrive', async () => {
  const { response, reader, onGone } = await open(framesAt(3000, 1000, 2000));
  expect([response.status, response.headers.get('content-type')]).toEqual([
    200,
    'text/event-stream; charset=utf-8',
  ]);
  expect(response.headers.get('x-conductor-solve')).toBe('one');
  expect(await readFor(reader, 10)).toEqual([
    { at: 0, text: ': conductor\n\n' },
    { at: 3, text: frameOf('3000') },
    { at: 4, text: frameOf('1000') },
    { at: 6, text: frameOf('2000') },
    { at: 6, text: 'end' },
  ]);
  expect(onGone).not.toHaveBeenCalled();
});

test('ten silent seconds bring a comment, and every fourth silence an event of the vendor’s', async () => {
  const { reader } = await open({ next: never });
  const [, ...silences] = await readFor(reader, 85);
  const comment = ': still working\n\n';
  const [three, nothing] = [[comment, comment, comment], frameOf('nothing')];
  expect(silences.map(({ at }) => at)).toEqual([10, 20, 30, 40, 50, 60, 70, 80]);
  expect(silences.map(({ text }) => text)).toEqual([...three, nothing, ...three, nothing]);
});

test('a frame resets the count of silences', async () => {
  const { reader } = await open(framesAt(35_000, 1_000_000));
  const heard = (await readFor(reader, 80)).map(({ text }) => text);
  expect(heard.indexOf(frameOf('nothing'))).toBe(heard.lastIndexOf(frameOf('35000')) + 4);
});

test('a client that does not read is cut off after a minute', async () => {
  const ended = jest.fn();
  async function* frames(): AsyncGenerator<string> {
    try {
      for (;;) yield frameOf(await Promise.resolve('x'.repeat(1000)));
    } finally {
      ended();
    }
  }
  const { reader, destroy, onGone } = await open(frames());
  // The server, too, cancels the body of a response that is destroyed.
  destroy.mockImplementation(() => void reader.cancel());
  await reader.read();
  await jest.advanceTimersByTimeAsync(59 * SECOND);
  expect(destroy).not.toHaveBeenCalled();
  await jest.advanceTimersByTimeAsync(2 * SECOND);
  expect(destroy).toHaveBeenCalledTimes(1);
  expect(onGone).toHaveBeenCalledTimes(1);
  // The frames are closed, although nobody asks for another one.
  expect(ended).toHaveBeenCalledTimes(1);
  await jest.advanceTimersByTimeAsync(120 * SECOND);
  expect([destroy.mock.calls.length, onGone.mock.calls.length]).toEqual([1, 1]);
});

test('a client that reads, however slowly, is not cut off', async () => {
  const { reader, destroy } = await open(framesAt(...Array.from({ length: 100 }, () => 0)));
  for (let index = 0; index < 10; index += 1) {
    await reader.read();
    await jest.advanceTimersByTimeAsync(50 * SECOND);
  }
  expect(destroy).not.toHaveBeenCalled();
});

test('a client that leaves is noticed once, and no timer goes on', async () => {
  const { reader, destroy, onGone } = await open(framesAt(0, 1_000_000));
  const heard = readFor(reader, 12);
  await heard;
  await reader.cancel();
  expect(onGone).toHaveBeenCalledTimes(1);
  await jest.advanceTimersByTimeAsync(200 * SECOND);
  expect([destroy.mock.calls.length, onGone.mock.calls.length]).toEqual([0, 1]);
});

test('failing frames end the stream with the vendor’s error', async () => {
  async function* broken(): AsyncGenerator<string> {
    yield* framesAt(1000);
    throw new Error('no store');
  }
  const { reader, onGone } = await open(broken());
  expect((await readFor(reader, 70)).map(({ text }) => text)).toEqual([
    ': conductor\n\n',
    frameOf('1000'),
    frameOf('Error: no store', 'error'),
    'end',
  ]);
  expect(onGone).not.toHaveBeenCalled();
});

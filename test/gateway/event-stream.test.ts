import type { ServerResponse } from 'node:http';
import fc from 'fast-check';
import { Hono } from 'hono';
import {
  frameOf as bareFrameOf,
  type EventFrame,
  streamEvents,
  textOfFrame,
} from '../../src/gateway/event-stream';
import type { Env } from '../../src/gateway/gateway';
import { Refusal } from '../../src/gateway/refusal';

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

const SECOND = 1000;
const frameOf = (...given: Parameters<typeof bareFrameOf>): string =>
  [...textOfFrame(bareFrameOf(...given))].join('');
const never = (): Promise<never> => new Promise(() => undefined);

/** Opens a stream of these frames, without a socket. */
async function open(frames: AsyncIterator<EventFrame>, last: Refusal | null = null) {
  const onGone = jest.fn();
  let gone: AbortSignal | undefined;
  const stop = new AbortController();
  const destroy = jest.fn();
  const said: string[] = [];
  const outgoing = { destroy } as Partial<ServerResponse> as ServerResponse;
  const app = new Hono<Env>().get('/', (c) =>
    streamEvents(
      c,
      {
        open: (signal) => {
          gone = signal;
          return frames;
        },
        nothing: () => bareFrameOf('nothing'),
        failed: ({ message }) => bareFrameOf(message, 'error'),
        stop: { signal: stop.signal, refusal: last },
        say: (line) => said.push(line),
        onGone,
      },
      { 'x-conductor-solve': 'one' },
    ),
  );
  const response = await app.request('/', {}, { outgoing });
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  if (reader === undefined) throw new Error('there is no body');
  return { response, onGone, destroy, reader, stop, said, isClosed: () => gone?.aborted };
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

async function* framesAt(...times: readonly number[]): AsyncGenerator<EventFrame> {
  for (const ms of times) {
    await new Promise((resolve) => setTimeout(resolve, ms));
    yield bareFrameOf(String(ms));
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
  async function* frames(): AsyncGenerator<EventFrame> {
    try {
      for (;;) yield bareFrameOf(await Promise.resolve('x'.repeat(1000)));
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
  const { reader, destroy, onGone, isClosed } = await open(framesAt(0, 1_000_000));
  const heard = readFor(reader, 12);
  await heard;
  expect(isClosed()).toBe(false);
  await reader.cancel();
  // Frames that wait for news end as well.
  expect(isClosed()).toBe(true);
  expect(onGone).toHaveBeenCalledTimes(1);
  await jest.advanceTimersByTimeAsync(200 * SECOND);
  expect([destroy.mock.calls.length, onGone.mock.calls.length]).toEqual([0, 1]);
});

test('failing frames end the stream with the vendor’s error', async () => {
  async function* broken(): AsyncGenerator<EventFrame> {
    yield* framesAt(1000);
    throw new Error('no store at secret-host');
  }
  const { reader, onGone, said } = await open(broken());
  expect((await readFor(reader, 70)).map(({ text }) => text)).toEqual([
    ': conductor\n\n',
    frameOf('1000'),
    frameOf('the gateway failed; see its log for the cause', 'error'),
    'end',
  ]);
  expect(said).toEqual(['gateway: no store at secret-host']);
  expect(onGone).not.toHaveBeenCalled();
});

const GO_ON = new Refusal(503, 'go on', { reason: 'stopping' });

test.each([
  ['the frame that says how to go on', GO_ON, [frameOf('go on', 'error')]],
  ['nothing more if clients resume by themselves', null, []],
])('a stream that is stopped ends with %s', async (_, last, words) => {
  const { reader, onGone, destroy, stop } = await open(framesAt(0, 1_000_000), last);
  const heard = readFor(reader, 5);
  await jest.advanceTimersByTimeAsync(SECOND);
  stop.abort();
  expect((await heard).map(({ text }) => text)).toEqual([': conductor\n\n', frameOf('0'), ...words, 'end']);
  await jest.advanceTimersByTimeAsync(200 * SECOND);
  expect([onGone.mock.calls.length, destroy.mock.calls.length]).toEqual([0, 0]);
});

test('a stream is not stopped within a frame', async () => {
  const long = { text: 'x'.repeat(100_000) };
  async function* frames(): AsyncGenerator<EventFrame> {
    yield await Promise.resolve(bareFrameOf(long));
    await never();
  }
  const { reader, stop } = await open(frames(), GO_ON);
  await reader.read();
  const first = (await reader.read()).value ?? '';
  stop.abort();
  const heard = [first, ...(await readFor(reader, 1)).map(({ text }) => text)];
  expect(heard.slice(-2)).toEqual([frameOf('go on', 'error'), 'end']);
  expect(heard.slice(0, -2).join('')).toBe(frameOf(long));
});

const anyText = fc
  .array(fc.constantFrom('x', '"', '\\', '\n', '\u2028', 'é', '🙂', '\ud83d', '</'), {
    minLength: 1,
    maxLength: 40,
  })
  .map((parts) => parts.join('').repeat(1500));

test('a frame is the JSON of its data, in pieces of bounded length', () => {
  const data = fc.dictionary(
    fc.string(),
    fc.oneof(fc.jsonValue(), anyText, fc.array(anyText, { maxLength: 2 })),
  );
  fc.assert(
    fc.property(data, (made) => {
      const pieces = [...textOfFrame(bareFrameOf(made, 'kind', 'cursor'))];
      const text = new TextDecoder().decode(Buffer.concat(pieces.map((piece) => Buffer.from(piece))));
      const json = text.slice('event: kind\nid: cursor\ndata: '.length);
      expect(JSON.parse(json)).toEqual(JSON.parse(JSON.stringify(made)));
      expect(json.endsWith('\n\n') && !json.trimEnd().includes('\n')).toBe(true);
      for (const piece of pieces) expect(piece.length).toBeLessThan(200_000);
    }),
    { numRuns: 100 },
  );
});

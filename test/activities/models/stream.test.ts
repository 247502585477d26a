import { once } from 'node:events';
import { FAILURES } from '../../../src/protocol/failures';
import { startSimulatedProviders } from '../../../src/testing';
import { useServer } from '../../support/serve';
import { aRequest, type Dialect, DIALECTS, failureOf } from './ask';

const EVENT_STREAM = { 'content-type': 'text/event-stream; charset=utf-8' };

const server = useServer();

/** Bytes of an answer as each vendor sends it, streamed and whole, recorded from the simulated providers. */
const sent: Record<string, Readonly<Record<'stream' | 'body', Buffer>>> = {};
const TEXT = 'Eight, and as many eyes 🙂: two large ones that see well, six small ones that see what moves.';
beforeAll(async () => {
  const providers = await startSimulatedProviders({ fallback: { answer: TEXT } });
  for (const { name, complete, card } of DIALECTS) {
    const asked = card(providers.url);
    const stream = await overheard(() => complete(aRequest(asked)));
    sent[name] = {
      stream,
      body: await overheard(() => complete(aRequest({ ...asked, idleTimeoutMs: undefined }))),
    };
  }
  await providers.close();
});

/** Returns the body of the one response that arrives during `ask`. */
async function overheard(ask: () => Promise<unknown>): Promise<Buffer> {
  const original = fetch;
  let copy = Buffer.of();
  const spy = jest.spyOn(globalThis, 'fetch').mockImplementation(async (input, init) => {
    const response = await original(input, init);
    copy = Buffer.from(await response.clone().arrayBuffer());
    return response;
  });
  await ask();
  spy.mockRestore();
  return copy;
}

const streamOf = (name: string): Buffer => sent[name]?.stream ?? Buffer.of();
const eventsOf = (name: string): string[] => String(streamOf(name)).split(/(?<=\n\n)/);

function send(...chunks: (string | Buffer)[]): void {
  server.answer = (response) => {
    response.writeHead(200, EVENT_STREAM);
    for (const chunk of chunks) response.write(chunk);
    response.end();
  };
}

async function ask({ complete, card }: Dialect, idleTimeoutMs = 30_000) {
  let heard = '';
  const onText = (text: string): void => void (heard += text);
  const request = aRequest({ ...card(server.url), idleTimeoutMs }, { onText });
  const failure = await failureOf(complete, request).catch(() => null);
  return { failure, heard };
}

async function read({ complete, card }: Dialect) {
  let heard = '';
  const onText = (text: string): void => void (heard += text);
  const reply = await complete(aRequest(card(server.url), { onText }));
  return { ...reply, heard };
}

describe.each(DIALECTS)('$name', (dialect) => {
  const { name } = dialect;

  test('read byte by byte, the streamed text equals the answer', async () => {
    send(...Array.from(streamOf(name), (byte) => Buffer.from([byte])));
    expect(await read(dialect)).toMatchObject({
      text: TEXT,
      heard: TEXT,
      finish: 'stop',
      usage: { inputTokens: 7 },
    });
  });

  test('cut after any event but the last, it is a failure, and the text so far is the beginning of the answer', async () => {
    const events = eventsOf(name);
    for (let count = 0; count < events.length; count += 1) {
      send(...events.slice(0, count));
      const { failure, heard } = await ask(dialect);
      expect(TEXT.startsWith(heard)).toBe(true);
      if (heard !== TEXT) expect(failure).toMatchObject({ type: FAILURES.interrupted, billed: 'unknown' });
    }
  });

  test('silent in the middle, it times out, reports how many bytes came, and closes the connection', async () => {
    const half = streamOf(name).subarray(0, 200);
    const closed = new Promise((resolve) => {
      server.answer = (response) => {
        response.writeHead(200, EVENT_STREAM).write(half);
        response.on('close', resolve);
      };
    });
    const { failure } = await ask(dialect, 50);
    expect(failure).toMatchObject({ type: FAILURES.timeout, retryable: false, billed: 'unknown' });
    expect(failure?.message).toContain(
      'sent nothing for 0.05 s after 200 bytes of its answer. Raise the worker',
    );
    await closed;
  });

  test('an event that is not JSON is reported with its beginning', async () => {
    const [first = ''] = eventsOf(name);
    send(first, 'data: <html>\n\n');
    const { failure } = await ask(dialect);
    expect(failure).toMatchObject({ type: FAILURES.badResponse, billed: 'unknown' });
    expect(failure?.message).toContain('an event that is no JSON but text that begins "<html>"');
  });

  test.each([
    { error: { message: 'Overloaded', type: 'overloaded_error', code: 529, status: 'UNAVAILABLE' } },
    { type: 'error', message: 'Overloaded' },
    { error: 'Overloaded' },
  ])('%j in mid-stream is a failure with that message', async (error) => {
    const events = eventsOf(name);
    send(...events.slice(0, events.length / 2), `event: error\ndata: ${JSON.stringify(error)}\n\n`);
    const { failure } = await ask(dialect);
    expect(failure).toMatchObject({ type: FAILURES.interrupted, retryable: false, billed: 'unknown' });
    expect(failure?.message).toContain('failed while it wrote its answer: Overloaded. ');
  });

  test('a line of 65 MB, a million empty events and a million comments do no harm', async () => {
    const filler = 'x'.repeat(1024 * 1024);
    send('data: "', ...Array.from({ length: 65 }, () => filler));
    expect((await ask(dialect)).failure?.message).toContain('it has more than 64 MiB');
    const [first = '', ...rest] = eventsOf(name);
    send(first, 'data:\n\n'.repeat(1e6), ': keep-alive\n\n'.repeat(1e6), ...rest);
    expect(await read(dialect)).toMatchObject({ text: TEXT });
  });

  test('a connection that breaks after the last event loses nothing', async () => {
    server.answer = (response) => {
      response.writeHead(200, EVENT_STREAM);
      response.write(streamOf(name), () => response.socket?.resetAndDestroy());
    };
    expect(await read(dialect)).toMatchObject({ text: TEXT });
  });

  test('a whole body is accepted as an answer even if a stream was requested', async () => {
    server.answer = (response) =>
      response.writeHead(200, { 'content-type': 'application/json' }).end(sent[name]?.body);
    expect(await read(dialect)).toMatchObject({ text: TEXT, finish: 'stop', heard: '' });
  });
});

test.each(['OpenAI Chat Completions', 'Gemini generateContent'])(
  '%s: a finish reason that comes too early does not end the answer',
  async (name) => {
    const dialect = DIALECTS.find((each) => each.name === name);
    if (dialect === undefined) throw new Error('it is one of the four');
    const early =
      name === 'Gemini generateContent'
        ? { candidates: [{ index: 0, content: { parts: [] }, finishReason: 'STOP' }] }
        : { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] };
    const events = eventsOf(name);
    const begun = [`data: ${JSON.stringify(early)}\n\n`, ...events.slice(0, 3)];
    send(...begun);
    expect((await ask(dialect)).failure).toMatchObject({ type: FAILURES.interrupted });
    send(...begun, ...events.slice(3));
    expect(await read(dialect)).toMatchObject({ text: TEXT, finish: 'stop' });
  },
);

test("Anthropic's first output count is ignored: without a later one, the usage is unknown", async () => {
  const anthropic = DIALECTS.find(({ name }) => name.startsWith('Anthropic'));
  if (anthropic === undefined) throw new Error('it is one of the four');
  send(
    String(streamOf(anthropic.name)).replace(/(event: message_delta\ndata: .*),"usage":\{[^]*?\}\}\}/, '$1}'),
  );
  expect(await read(anthropic)).toMatchObject({ text: TEXT, finish: 'stop', usage: null });
});

test.each(['abort', 'error', 'insufficient_system_resource'])(
  'a chat that ends with "%s" is not an answer, whole or streamed',
  async (reason) => {
    const [chat] = DIALECTS;
    if (chat === undefined) throw new Error('it is the first');
    const { stream, body } = sent[chat.name] ?? {};
    const altered = (bytes?: Buffer): string =>
      String(bytes).replace('"finish_reason":"stop"', `"finish_reason":"${reason}"`);
    send(altered(stream));
    expect((await ask(chat)).failure).toMatchObject({ type: FAILURES.interrupted, billed: 'unknown' });
    server.answer = (response) =>
      response.writeHead(200, { 'content-type': 'application/json' }).end(altered(body));
    expect((await ask(chat)).failure?.message).toContain(`finish_reason is ${reason}`);
  },
);

test('a chat that ends with [DONE] is over even if the connection stays open', async () => {
  const [chat] = DIALECTS;
  if (chat === undefined) throw new Error('it is the first');
  const closed = new Promise((resolve) => {
    server.answer = (response) => {
      response.writeHead(200, EVENT_STREAM).write(streamOf(chat.name));
      void once(response, 'close').then(resolve);
    };
  });
  expect(await read(chat)).toMatchObject({ text: TEXT });
  await closed;
});

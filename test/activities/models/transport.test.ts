import type { RequestListener } from 'node:http';
import { completeGoogle } from '../../../src/activities/models/google';
import { sendOnce, TransportError } from '../../../src/activities/models/transport';
import { FAILURES } from '../../../src/protocol/failures';
import { serve } from '../../support/serve';
import { aCard, aRequest, DIALECTS, failureOf } from './ask';

const closing: (() => Promise<void>)[] = [];
afterEach(closeAll);

async function closeAll(): Promise<void> {
  await Promise.all(closing.splice(0).map((close) => close()));
}

/** Starts a server that does what no provider should, and returns its URL. */
async function open(listener: RequestListener): Promise<string> {
  const { url, close } = await serve(listener);
  closing.push(close);
  return url;
}

describe.each(DIALECTS)('$name', ({ complete, card }) => {
  test('does not follow a redirect, which would pass on the prompt and the key', async () => {
    const paths: (string | undefined)[] = [];
    const url = await open((request, response) => {
      paths.push(request.url);
      response.writeHead(307, { location: '/elsewhere' }).end();
    });
    expect(await failureOf(complete, aRequest(card(url)))).toMatchObject({ retryable: false });
    expect(paths).toHaveLength(1);
    expect(paths).not.toContain('/elsewhere');
  });

  test('reports an unreachable server as a free, retryable failure', async () => {
    const url = await open(() => undefined);
    await closeAll();
    const failure = await failureOf(complete, aRequest(card(url)));
    expect(failure).toMatchObject({ type: FAILURES.unavailable, retryable: true, billed: 'no' });
    expect(failure?.message).toContain(`could not be reached: connect ECONNREFUSED ${url.slice(7)}. `);
  });

  test('reports an invalid base URL as a wrong setting', async () => {
    const failure = await failureOf(complete, aRequest(card('no-url')));
    expect(failure).toMatchObject({ type: FAILURES.badRequest, billed: 'no' });
  });

  test('names an address whose port no HTTP client calls, and the setting that is wrong', async () => {
    const failure = await failureOf(complete, aRequest(card('http://127.0.0.1:9')));
    expect(failure).toMatchObject({ type: FAILURES.badRequest, retryable: false, billed: 'no' });
    expect(failure?.message).toContain(
      'cannot be called: port 9 of 127.0.0.1 is closed to HTTP clients. Correct its baseUrl',
    );
  });
});

test("Gemini's limit per request ends the answer: the SDK does not continue by itself", async () => {
  let requests = 0;
  const url = await open((_, response) => {
    requests += 1;
    const content = { parts: [{ text: 'Once' }] };
    const candidate = { content, finishReason: 'CONTINUATION', continuationToken: 'aGk=' };
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ candidates: [candidate] }));
  });
  const reply = await completeGoogle(aRequest(aCard({ provider: 'google', baseUrl: url })));
  expect(reply).toMatchObject({ text: 'Once', finish: 'length' });
  expect(requests).toBe(1);
});

test('a connection that was never made keeps its code, so no SDK mistakes it for a lost answer', async () => {
  const timedOut = Object.assign(new Error('Connect Timeout Error'), { code: 'UND_ERR_CONNECT_TIMEOUT' });
  jest.spyOn(globalThis, 'fetch').mockRejectedValue(new TypeError('fetch failed', { cause: timedOut }));
  for (const { complete, card } of DIALECTS) {
    expect(await failureOf(complete, aRequest(card('http://127.0.0.1:9999')))).toMatchObject({
      type: FAILURES.unavailable,
      billed: 'no',
    });
  }
  jest.restoreAllMocks();
});

test("turns off the 300 s timeouts of Node's dispatcher for headers and body", async () => {
  const symbol = Symbol.for('undici.globalDispatcher.1');
  const before: unknown = Reflect.get(globalThis, symbol);
  const dispatched: object[] = [];
  type Dispatch = (options: object, handler: { onError: (error: Error) => void }) => boolean;
  const dispatch: Dispatch = (options, handler) => {
    dispatched.push(options);
    handler.onError(Object.assign(new Error('stop here'), { code: 'ECONNRESET' }));
    return true;
  };
  const compose = (interceptor: (next: Dispatch) => Dispatch) => ({ dispatch: interceptor(dispatch) });
  Reflect.set(globalThis, symbol, { dispatch, compose });
  await expect(sendOnce('http://127.0.0.1:9999/')).rejects.toBeInstanceOf(TransportError);
  Reflect.set(globalThis, symbol, before);
  expect(dispatched).toMatchObject([{ headersTimeout: 0, bodyTimeout: 0 }]);
});

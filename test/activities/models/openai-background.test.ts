import { backgroundOpenAI, completeOpenAI } from '../../../src/activities/models/openai';
import { FAILURES } from '../../../src/protocol/failures';
import { useProviders } from '../../testing/use-providers';
import { aCard, aRequest } from './ask';

const providers = useProviders();
const { begin, look, cancel } = backgroundOpenAI;

function request(): ReturnType<typeof aRequest> {
  return aRequest(aCard({ api: 'responses', baseUrl: `${providers.url}/v1`, background: true }));
}

const CANCELLED = { status: 'failed', diagnosis: { type: FAILURES.interrupted } };

/** Begins an answer, waits until the vendor has finished it, and returns its id. */
async function writtenInBackground(): Promise<string> {
  const { id } = await begin(request());
  await providers.waitForRequest(({ outcome }) => outcome !== null);
  return id;
}

test('an answer is begun in one request, kept by the vendor, and returned whole once it is ready', async () => {
  const letGo = providers.hold('sim-1');
  const { id, progress } = await begin(request());
  expect(progress).toEqual({ status: 'running' });
  expect(await look(request(), id)).toEqual({ status: 'running' });
  letGo();
  await providers.waitForRequest(({ path, outcome }) => path === '/v1/responses' && outcome !== null);

  const inForeground = await completeOpenAI(request());
  expect(await look(request(), id)).toEqual({ status: 'answered', reply: inForeground });
  expect(await look(request(), id)).toEqual({ status: 'answered', reply: inForeground });
  const [first, ...others] = providers.log;
  expect(JSON.parse(first?.body ?? '')).toMatchObject({ background: true, store: true });
  const looked = `/v1/responses/${id}`;
  expect(others.map(({ path }) => path)).toEqual([looked, '/v1/responses', looked, looked]);
});

test('a truncated answer is an answer like any other', async () => {
  providers.script('sim-1', [{ fault: 'length' }]);
  const id = await writtenInBackground();
  expect(await look(request(), id)).toMatchObject({ status: 'answered', reply: { finish: 'length' } });
});

test('an answer that fails late is diagnosed by its error code, and no usage is invented', async () => {
  providers.script('sim-1', [{ fault: 'server-error', late: true, message: 'Out of luck.' }]);
  const id = await writtenInBackground();
  expect(await look(request(), id)).toMatchObject({
    status: 'failed',
    diagnosis: { type: FAILURES.unavailable, reason: 'Out of luck.' },
    reply: { text: '', usage: null },
  });
});

test('cancelling reports the usage of an answer in progress, and none for a queued one', async () => {
  const letGo = providers.hold('sim-1');
  const queued = await begin(request());
  expect(await cancel(request(), queued.id)).toMatchObject({ ...CANCELLED, reply: { usage: null } });
  letGo();

  providers.script('sim-1', [{ text: 'Never written.', delayMs: 600_000 }]);
  const begun = await begin(request());
  const cancelled = await cancel(request(), begun.id);
  expect(cancelled).toMatchObject({ ...CANCELLED, reply: { usage: { inputTokens: 7, outputTokens: 0 } } });
  expect(await cancel(request(), begun.id)).toEqual(cancelled);
  expect(await look(request(), begun.id)).toEqual(cancelled);
});

test('cancelling a complete answer returns it unchanged', async () => {
  const id = await writtenInBackground();
  expect(await cancel(request(), id)).toEqual(await look(request(), id));
  expect(await look(request(), id)).toMatchObject({ status: 'answered' });
});

test('an id that the vendor does not know is a lost answer; any other failed poll is an error', async () => {
  expect(await look(request(), 'resp_99')).toMatchObject({
    status: 'failed',
    reply: null,
    diagnosis: { type: FAILURES.interrupted },
  });
  const id = await writtenInBackground();
  providers.scriptLookups('sim-1', [{ fault: 'server-error' }]);
  await expect(look(request(), id)).rejects.toThrow();
  expect(await look(request(), id)).toMatchObject({ status: 'answered' });
});

test.each([
  ['rate_limit_exceeded', null, FAILURES.rateLimited],
  ['server_error', null, FAILURES.unavailable],
  ['invalid_prompt', null, FAILURES.badRequest],
  ['something_new', null, FAILURES.badResponse],
  // A failure with usage was billed, so Temporal must not retry it.
  ['server_error', { input_tokens: 3, output_tokens: 5 }, FAILURES.badResponse],
])('%s with usage %j is %s', async (code, usage, type) => {
  const body = { id: 'resp_1', status: 'failed', error: { code, message: 'Words.' }, usage };
  jest.spyOn(globalThis, 'fetch').mockResolvedValue(Response.json(body));
  const failed = look(request(), 'resp_1').finally(() => jest.restoreAllMocks());
  expect(await failed).toMatchObject({ status: 'failed', diagnosis: { type, reason: 'Words.' } });
});

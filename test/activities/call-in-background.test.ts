import { MockActivityEnvironment } from '@temporalio/testing';
import { allowedMs, callInBackground, pauseMs } from '../../src/activities/call-in-background';
import { backgroundOpenAI } from '../../src/activities/models/openai';
import { FAILURES } from '../../src/protocol/failures';
import { findBegun } from '../../src/store/ledger';
import type { SqliteStore } from '../../src/store/sqlite-store';
import { freshStore } from '../local/fresh-folder';
import { aRow, OPEN } from '../support/ledger-of';
import { useProviders } from '../testing/use-providers';
import { aCall, aCard, aRequest, KEY } from './models/ask';

const providers = useProviders();
let store: SqliteStore;
beforeEach(async () => (store = await freshStore()));

type Sent = Awaited<ReturnType<typeof callInBackground>>;

interface Setting {
  readonly timeoutMs?: number;
  /** Time since the call was begun. */
  readonly agoMs?: number;
  /** Id of an answer that an earlier attempt began. */
  readonly id?: string;
  readonly activity?: MockActivityEnvironment;
}

function run({ timeoutMs = 600_000, agoMs = 0, id, activity = anActivity() }: Setting = {}): Promise<Sent> {
  const call = aCall(ourCard(), { timeoutMs });
  const row = aRow({ ...OPEN, callId: 'ca11', startedAt: new Date(Date.now() - agoMs).toISOString() });
  const dependencies = { background: backgroundOpenAI, store };
  const ask = (): Promise<Sent> => callInBackground(dependencies, call, KEY, row, id ?? null);
  return activity.run<[], Sent, typeof ask>(ask);
}

function ourCard() {
  return aCard({ api: 'responses', baseUrl: `${providers.url}/v1`, background: true });
}

/** Returns an activity without a time limit. */
function anActivity(): MockActivityEnvironment {
  return new MockActivityEnvironment({ scheduleToCloseTimeoutMs: 0 });
}

/** Begins an answer as an attempt that ends before its first poll, and returns the answer's id. */
async function begunBefore(): Promise<string> {
  return (await backgroundOpenAI.begin(aRequest(ourCard()))).id;
}

const created = () => providers.log.filter(({ path }) => path === '/v1/responses');

test('the id of an answer is kept before the first poll', async () => {
  const letGo = providers.hold('sim-1');
  const sent = run();
  await providers.waitForRequest(({ path }) => /resp_\d+$/.test(path));
  expect(await findBegun(store, 'ca11')).toEqual({ callId: 'ca11', attempt: 1, id: 'resp_1' });
  letGo();
  expect(await sent).toMatchObject({ kind: 'answered' });
});

test('an answer that is ready is returned, even long after the timeout', async () => {
  const id = await begunBefore();
  await providers.waitForRequest(({ outcome }) => outcome === 'answered');
  expect(await run({ id, timeoutMs: 1000, agoMs: 60_000 })).toMatchObject({ kind: 'answered' });
  expect(created()).toHaveLength(1);
});

test('an answer that is not ready at the timeout is cancelled, and booked with the usage that the vendor reports', async () => {
  providers.script('sim-1', [{ text: 'Never written.', delayMs: 600_000 }]);
  const id = await begunBefore();
  const sent = await run({ id, timeoutMs: 1000, agoMs: 60_000 });
  expect(created()).toMatchObject([{ outcome: 'cancelled' }]);
  expect(sent).toMatchObject({
    kind: 'failed',
    failure: { type: FAILURES.timeout, retryable: false, billed: 'yes' },
    reply: { usage: created()[0]?.usage },
  });
});

test("a call also ends, and its answer is cancelled, when the run's own time is up", async () => {
  providers.hold('sim-1');
  const scheduledTimestampMs = Date.now() - 60_000;
  const activity = new MockActivityEnvironment({ scheduledTimestampMs, scheduleToCloseTimeoutMs: 61_000 });
  expect(await run({ activity })).toMatchObject({ kind: 'failed', failure: { type: FAILURES.timeout } });
  expect(created()).toMatchObject([{ outcome: 'cancelled' }]);
});

test('a cancellation while an answer is being created waits for its id, and then cancels it by that id', async () => {
  providers.hold('sim-1');
  const activity = anActivity();
  const sent = run({ activity });
  await providers.waitForRequest(() => true);
  activity.cancel();
  const failure = { type: FAILURES.cancelled, billed: 'unknown' };
  expect(await sent).toMatchObject({ kind: 'failed', failure });
  expect(created()).toMatchObject([{ outcome: 'cancelled' }]);
});

test.each(['rate-limited', 'unavailable', 'bad-gateway', 'reset', 'html', 'cut-mid-body'] as const)(
  'a poll that fails with %s leaves the answer running, to be polled again',
  async (fault) => {
    const id = await begunBefore();
    providers.scriptLookups('sim-1', [{ fault }]);
    const message: unknown = expect.stringContaining(
      'It will be polled again; the answer is not requested twice.',
    );
    expect(await run({ id })).toMatchObject({ kind: 'left-running', failure: { message } });
    expect(await run({ id })).toMatchObject({ kind: 'answered' });
    expect(created()).toHaveLength(1);
  },
);

test('the next poll waits as long as the vendor asks', async () => {
  const id = await begunBefore();
  providers.scriptLookups('sim-1', [{ fault: 'rate-limited', retryAfter: { as: 'seconds', ms: 7000 } }]);
  const failure = { type: FAILURES.rateLimited, nextRetryDelayMs: 7000 };
  expect(await run({ id })).toMatchObject({ failure });
});

test('a poll failure that only a person can fix ends the call; the cost of the answer stays unknown', async () => {
  const id = await begunBefore();
  providers.scriptLookups('sim-1', [{ fault: 'invalid-key' }]);
  const failure = { type: FAILURES.authentication, retryable: false, billed: 'unknown' };
  expect(await run({ id })).toMatchObject({ kind: 'failed', failure });
});

test('the pause between polls grows from half a second to at most five seconds', () => {
  expect([0, 2000, 8000, 3_600_000].map(pauseMs)).toEqual([500, 500, 2000, 5000]);
});

test.each([
  ['what its card allows', 30_000, 60_000, 30_000],
  ["less where the run's own time ends sooner", 600_000, 60_000, 50_000],
  ['nothing where that is over', 600_000, 5_000, 0],
  ['not bounded by a run without an end', 600_000, 0, 600_000],
])('the time limit of a call is %s', (_, timeoutMs, scheduleToCloseTimeoutMs, allowed) => {
  const begunAt = Date.parse('2026-01-01T00:00:10Z');
  const info = { scheduledTimestampMs: begunAt - 10_000, scheduleToCloseTimeoutMs };
  expect(allowedMs(begunAt, timeoutMs, info)).toBe(allowed);
});

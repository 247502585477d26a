import { MockActivityEnvironment } from '@temporalio/testing';
import { callInBackground, pauseMs } from '../../src/activities/call-in-background';
import { backgroundOpenAI } from '../../src/activities/models';
import { FAILURES } from '../../src/protocol/failures';
import { type BegunAnswer, findBegun } from '../../src/store/ledger';
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
  /** An answer that an earlier attempt began. */
  readonly begun?: BegunAnswer;
  readonly activity?: MockActivityEnvironment;
}

function run({ timeoutMs = 600_000, begun, activity = anActivity() }: Setting = {}): Promise<Sent> {
  const call = aCall(ourCard(), { timeoutMs });
  const row = aRow({ ...OPEN, callId: 'ca11' });
  const dependencies = { background: backgroundOpenAI, store };
  const ask = (): Promise<Sent> => callInBackground(dependencies, call, KEY, row, begun ?? null);
  return activity.run<[], Sent, typeof ask>(ask);
}

function ourCard() {
  return aCard({ api: 'responses', baseUrl: `${providers.url}/v1`, background: true });
}

/** Time of an attempt by the clock of Temporal's server, which is years from this machine's. */
const NOW = Date.parse('2021-01-01T00:00:00Z');

/** Returns an activity whose attempt begins so many milliseconds after it was scheduled. */
function anActivity(usedMs = 0, scheduleToCloseTimeoutMs = 0): MockActivityEnvironment {
  return new MockActivityEnvironment({
    scheduledTimestampMs: NOW - usedMs,
    currentAttemptScheduledTimestampMs: NOW,
    scheduleToCloseTimeoutMs,
  });
}

/** Begins an answer as an attempt that ends before its first poll. */
async function begunBefore(agoMs = 0): Promise<BegunAnswer> {
  const { id } = await backgroundOpenAI.begin(aRequest(ourCard()));
  return { callId: 'ca11', attempt: 1, id, begunAt: NOW - agoMs };
}

const created = () => providers.log.filter(({ path }) => path === '/v1/responses');

test('the id of an answer is kept before the first poll', async () => {
  const letGo = providers.hold('sim-1');
  const sent = run();
  await providers.waitForRequest(({ path }) => /resp_\d+$/.test(path));
  const begun = await findBegun(store, 'ca11');
  expect(begun).toMatchObject({ callId: 'ca11', attempt: 1, id: 'resp_1' });
  expect(new Date(begun?.begunAt ?? 0).getUTCFullYear()).toBe(2021);
  letGo();
  expect(await sent).toMatchObject({ kind: 'answered' });
});

test('an answer that is ready is returned, even long after the timeout', async () => {
  const begun = await begunBefore(60_000);
  await providers.waitForRequest(({ outcome }) => outcome === 'answered');
  expect(await run({ begun, timeoutMs: 1000 })).toMatchObject({ kind: 'answered' });
  expect(created()).toHaveLength(1);
});

test('an answer that is not ready at the timeout is cancelled, and booked with the usage that the vendor reports', async () => {
  providers.script('sim-1', [{ text: 'Never written.', delayMs: 600_000 }]);
  const begun = await begunBefore(60_000);
  const sent = await run({ begun, timeoutMs: 1000 });
  expect(created()).toMatchObject([{ outcome: 'cancelled' }]);
  expect(sent).toMatchObject({
    kind: 'failed',
    failure: { type: FAILURES.timeout, retryable: false, billed: 'yes' },
    reply: { usage: created()[0]?.usage },
  });
});

test("a call also ends, and its answer is cancelled, when the run's own time is up", async () => {
  providers.hold('sim-1');
  const activity = anActivity(60_000, 61_000);
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
    const begun = await begunBefore();
    providers.scriptLookups('sim-1', [{ fault }]);
    const message: unknown = expect.stringContaining(
      'It will be polled again; the answer is not requested twice.',
    );
    expect(await run({ begun })).toMatchObject({ kind: 'left-running', failure: { message } });
    expect(await run({ begun })).toMatchObject({ kind: 'answered' });
    expect(created()).toHaveLength(1);
  },
);

test('the next poll waits as long as the vendor asks', async () => {
  const begun = await begunBefore();
  providers.scriptLookups('sim-1', [{ fault: 'rate-limited', retryAfter: { as: 'seconds', ms: 7000 } }]);
  const failure = { type: FAILURES.rateLimited, nextRetryDelayMs: 7000 };
  expect(await run({ begun })).toMatchObject({ failure });
});

test('a poll failure that only a person can fix ends the call; the cost of the answer stays unknown', async () => {
  const begun = await begunBefore();
  providers.scriptLookups('sim-1', [{ fault: 'invalid-key' }]);
  const failure = { type: FAILURES.authentication, retryable: false, billed: 'unknown' };
  expect(await run({ begun })).toMatchObject({ kind: 'failed', failure });
});

test('the pause between polls grows from half a second to at most five seconds', () => {
  expect([0, 2000, 8000, 3_600_000].map(pauseMs)).toEqual([500, 500, 2000, 5000]);
});

test('a call gets all its time, however far from the server the clock of this machine is', async () => {
  const begun = await begunBefore(10_000);
  const sent = await run({ begun, timeoutMs: 60_000, activity: anActivity(20_000, 600_000) });
  expect(sent).toMatchObject({ kind: 'answered' });
});

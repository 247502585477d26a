import { allowedMs, pauseMs } from '../../src/activities/call-in-background';
import { delayed } from '../../src/activities/heartbeat';

test('looks come close at first, and at most every five seconds later', () => {
  expect([0, 2000, 8000, 3_600_000].map(pauseMs)).toEqual([500, 500, 2000, 5000]);
});

describe('how long a call may take', () => {
  const begunAt = Date.parse('2026-01-01T00:00:10Z');
  const info = { scheduledTimestampMs: begunAt - 10_000, scheduleToCloseTimeoutMs: 60_000 };

  test('is what its card allows', () => {
    expect(allowedMs(begunAt, 30_000, info)).toBe(30_000);
  });

  test("is less where the run's own time ends sooner", () => {
    expect(allowedMs(begunAt, 600_000, info)).toBe(50_000);
    expect(allowedMs(begunAt + 120_000, 600_000, info)).toBe(0);
  });

  test('is not bounded by a run without an end', () => {
    const endless = { ...info, scheduleToCloseTimeoutMs: 0 };
    expect(allowedMs(begunAt, 600_000, endless)).toBe(600_000);
  });
});

test('a delayed signal aborts after its original, for the same reason', async () => {
  const original = new AbortController();
  const later = delayed(original.signal, 20);
  const aborted = new Promise((resolve) => {
    later.addEventListener('abort', resolve, { once: true });
  });
  original.abort('enough');
  expect(later.aborted).toBe(false);
  await aborted;
  expect(later.reason).toBe('enough');
});

import { once } from 'node:events';
import { setImmediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { delayed, timeLimit, withinLimit } from '../../src/activities/heartbeat';
import { startSimulatedProviders } from '../../src/testing';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

test('aborts with a TimeoutError when its time is up', async () => {
  const signal = timeLimit(10);
  expect(signal.aborted).toBe(false);
  await once(signal, 'abort');
  expect(signal.reason).toMatchObject({ name: 'TimeoutError' });
});

test('does not abort at once if the time is longer than a timer can run', async () => {
  const signal = timeLimit(2 ** 40);
  await new Promise((resolve) => setTimeout(resolve, 5));
  expect(signal.aborted).toBe(false);
});

test('leaves no timer once the limited work is over', async () => {
  jest.useFakeTimers();
  const { signal: cancellation } = new AbortController();
  const during = await withinLimit(60_000, cancellation, () => Promise.resolve(jest.getTimerCount()));
  const after = jest.getTimerCount();
  jest.useRealTimers();
  expect([during, after]).toEqual([1, 0]);
});

test('limited work is also cancelled by the outer signal, even one that was aborted before it began', async () => {
  const run = new AbortController();
  const whyItEnds = (): Promise<unknown> =>
    withinLimit(60_000, run.signal, async (signal) => {
      if (!signal.aborted) await once(signal, 'abort');
      return signal.reason as unknown;
    });
  const underWay = whyItEnds();
  run.abort('enough');
  expect([await underWay, await whyItEnds()]).toEqual(['enough', 'enough']);
});

test('ends a hanging request, however often garbage is collected meanwhile', async () => {
  const providers = await startSimulatedProviders({ fallback: { answer: { fault: 'hang' } } });
  const body = JSON.stringify({ model: 'model', input: 'Why?' });
  // In a function of its own, so that only the request holds the signal.
  const ask = (): Promise<unknown> => {
    const signal = AbortSignal.any([new AbortController().signal, timeLimit(300)]);
    return fetch(`${providers.url}/v1/responses`, { method: 'POST', body, signal }).catch(
      (error: unknown) => error,
    );
  };
  const ends: unknown[] = [];
  void ask().then((end) => ends.push(end));
  while (ends.length === 0) {
    collectGarbage();
    await setImmediate();
  }
  expect(ends).toMatchObject([{ name: 'TimeoutError' }]);
  await providers.close();
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

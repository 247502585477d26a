import { FAILURES } from '../../../src/protocol/failures';
import { startSimulatedProviders, type SimulatedProviders } from '../../../src/testing';
import { aRequest, DIALECTS, failureOf } from './ask';

let providers: SimulatedProviders;
beforeAll(async () => {
  providers = await startSimulatedProviders({ fallback: { answer: { fault: 'hang' } } });
});
afterAll(() => providers.close());

describe.each(DIALECTS)('$name', ({ complete, card }) => {
  test('cancellation closes the connection and is no failure', async () => {
    const run = new AbortController();
    const failure = failureOf(complete, aRequest(card(providers.url), { signal: run.signal }));
    const { sequence } = await nextRequest();
    run.abort(new Error('cancelled'));
    await providers.waitForClose(sequence);
    expect(await failure).toBeNull();
  });

  test('our time-out closes the connection and is a time-out that may have been billed', async () => {
    const clock = new AbortController();
    const slow = { ...card(providers.url), timeoutMs: 1500 };
    const failure = failureOf(complete, aRequest(slow, { signal: clock.signal }));
    const { sequence } = await nextRequest();
    clock.abort(new DOMException('The operation was aborted due to timeout', 'TimeoutError'));
    await providers.waitForClose(sequence);
    expect(await failure).toMatchObject({ type: FAILURES.timeout, retryable: false, billed: 'unknown' });
    expect((await failure)?.message).toContain('gave no answer within 1.5 s.');
  });

  test('a signal that was aborted before sends nothing', async () => {
    const before = providers.log.length;
    expect(
      await failureOf(complete, aRequest(card(providers.url), { signal: AbortSignal.abort() })),
    ).toBeNull();
    expect(providers.log).toHaveLength(before);
  });
});

function nextRequest(): ReturnType<SimulatedProviders['waitForRequest']> {
  const before = providers.log.length;
  return providers.waitForRequest(({ sequence }) => sequence > before);
}

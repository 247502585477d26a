import { unlessAborted } from '../../../../src/activities/models/local';

const pending = new Promise<never>(() => undefined);

describe('unlessAborted', () => {
  it('passes on what was awaited', async () => {
    const { signal } = new AbortController();
    await expect(unlessAborted(signal, Promise.resolve('here'))).resolves.toBe('here');
    await expect(unlessAborted(signal, Promise.reject(new Error('failed')))).rejects.toThrow('failed');
  });

  it('stops waiting with the reason of the signal, then or before', async () => {
    const controller = new AbortController();
    const waiting = unlessAborted(controller.signal, pending);
    controller.abort(new Error('enough'));
    await expect(waiting).rejects.toThrow('enough');
    await expect(unlessAborted(controller.signal, pending)).rejects.toThrow('enough');
  });
});

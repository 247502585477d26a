import { createQueue } from '../../../../src/activities/models/local';

const never = new AbortController().signal;

function gate(): { opened: Promise<void>; open: () => void } {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { opened, open };
}

describe('the queue of a local model', () => {
  it('runs one thing at a time, in the order of asking', async () => {
    const inTurn = createQueue();
    const first = gate();
    const events: string[] = [];
    const one = inTurn(never, async () => {
      events.push('one starts');
      await first.opened;
      events.push('one ends');
    });
    const two = inTurn(never, () => Promise.resolve(events.push('two')));
    await Promise.resolve();
    first.open();
    await Promise.all([one, two]);
    expect(events).toEqual(['one starts', 'one ends', 'two']);
  });

  it('goes on after a failure', async () => {
    const inTurn = createQueue();
    await expect(inTurn(never, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    await expect(inTurn(never, () => Promise.resolve('yes'))).resolves.toBe('yes');
  });

  it('lets go at once of who gives up while waiting, and never starts their work', async () => {
    const inTurn = createQueue();
    const first = gate();
    const running = inTurn(never, () => first.opened);
    const waiter = new AbortController();
    const work = jest.fn(() => Promise.resolve());
    const waiting = inTurn(waiter.signal, work);
    waiter.abort(new Error('given up'));
    await expect(waiting).rejects.toThrow('given up');
    first.open();
    await running;
    await inTurn(never, () => Promise.resolve());
    expect(work).not.toHaveBeenCalled();
  });

  it('does not start what was given up before it was asked for', async () => {
    const work = jest.fn(() => Promise.resolve());
    await expect(createQueue()(AbortSignal.abort(new Error('early')), work)).rejects.toThrow('early');
    expect(work).not.toHaveBeenCalled();
  });

  it('leaves the end of running work to that work', async () => {
    const runner = new AbortController();
    const ended = createQueue()(runner.signal, () => {
      runner.abort(new Error('late'));
      return Promise.resolve('whole');
    });
    await expect(ended).resolves.toBe('whole');
  });
});

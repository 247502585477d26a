import { EventEmitter, once } from 'node:events';
import { type Runnable, runTogether } from '../../src/worker/worker-plugin';

/** A worker that runs until it is stopped or breaks down. */
class FakeWorker implements Runnable {
  private state: ReturnType<Runnable['getState']> = 'INITIALIZED';
  private readonly ending = new EventEmitter();

  getState(): ReturnType<Runnable['getState']> {
    return this.state;
  }

  async run(): Promise<void> {
    this.state = 'RUNNING';
    await once(this.ending, 'end');
  }

  shutdown(): void {
    this.state = 'STOPPED';
    this.ending.emit('end');
  }

  breakDown(reason: string): void {
    this.state = 'FAILED';
    this.ending.emit('error', new Error(reason));
  }
}

describe('workers that run together', () => {
  test('end together when the first of them is stopped, even before the others exist', async () => {
    const [main, late] = [new FakeWorker(), new FakeWorker()];
    const arrival = new EventEmitter();
    const run = runTogether(main, () => main.run(), [once(arrival, 'there').then(() => late)]);
    main.shutdown();
    arrival.emit('there');
    await run;
    expect([main.getState(), late.getState()]).toEqual(['STOPPED', 'STOPPED']);
  });

  test.each([0, 1, 2])('fail together when worker %i of them fails', async (broken) => {
    const workers = [new FakeWorker(), new FakeWorker(), new FakeWorker()] as const;
    const [main, ...others] = workers;
    const run = runTogether(
      main,
      () => main.run(),
      others.map((other) => Promise.resolve(other)),
    );
    await Promise.resolve();
    workers[broken]?.breakDown('the server is gone');
    await expect(run).rejects.toThrow('the server is gone');
    for (const [index, worker] of workers.entries()) {
      expect(worker.getState()).toBe(index === broken ? 'FAILED' : 'STOPPED');
    }
  });

  test('stop if one of them cannot be created', async () => {
    const main = new FakeWorker();
    const run = runTogether(main, () => main.run(), [Promise.reject(new Error('no such name space'))]);
    await expect(run).rejects.toThrow('no such name space');
    expect(main.getState()).toBe('STOPPED');
  });
});

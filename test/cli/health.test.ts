import { Worker } from '@temporalio/worker';
import { Client, Connection } from '@temporalio/client';
import { serveHealth, watchPolls } from '../../src/cli/health';
import { pollersOf } from '../../src/client/pollers';
import { until } from '../support/until';
import { connect, testTaskQueue, type TestTemporal, workflowBundle } from '../support/temporal';

let temporal: TestTemporal;
let worker: Worker;
let ended: Promise<void>;

beforeEach(async () => {
  temporal = await connect();
  worker = await Worker.create({
    connection: temporal.nativeConnection,
    taskQueue: testTaskQueue(),
    workflowBundle: workflowBundle(),
    activities: { nothing: () => Promise.resolve() },
  });
  ended = worker.run();
});
afterEach(async () => {
  if (worker.getState() === 'RUNNING') worker.shutdown();
  await ended;
  await temporal.close();
});

const partsOf = ({ options: { identity } }: Worker) => ({
  identity,
  status: () => worker.getStatus(),
});

test('it is 200 while the worker polls, and 503 with the reason once it polls no more', async () => {
  const { taskQueue } = worker.options;
  const parts = {
    worker: { ...partsOf(worker), connection: temporal.nativeConnection, ended, stop: () => ended },
    temporal: temporal.client,
    config: { temporal: { taskQueue } },
  };
  const health = await serveHealth(0, parts as Parameters<typeof serveHealth>[1]);
  try {
    const ask = async () => {
      const response = await fetch(health.url);
      return { status: response.status, body: await response.json() };
    };
    expect(await ask()).toEqual({ status: 200, body: { healthy: true, state: 'polling' } });
    worker.shutdown();
    await ended;
    expect(await ask()).toEqual({ status: 503, body: { healthy: false, state: 'the worker is stopped' } });
    await expect(serveHealth(Number(new URL(health.url).port), parts as never)).rejects.toThrow(
      /^--health \d+ cannot be had \(.*EADDRINUSE.*\): name another port$/,
    );
  } finally {
    health.close();
  }
});

test('a worker that calls itself well is not, where the server has heard of no poll of it for minutes', async () => {
  let now = 0;
  const { taskQueue } = worker.options;
  const look = watchPolls(partsOf(worker), temporal.client, testTaskQueue(), () => now);
  expect(await look()).toEqual({ healthy: true, state: 'polling' });
  now += 119_000;
  expect((await look()).healthy).toBe(true);
  now += 1_000;
  expect(await look()).toEqual({
    healthy: false,
    state: 'for minutes, no poll of this worker has reached Temporal',
  });

  // The server learns of a new worker's polls after a while.
  await until(
    () => pollersOf(temporal.client, taskQueue),
    (known) => known.some(({ identity }) => identity === worker.options.identity),
  );
  const lookWhereItPolls = watchPolls(partsOf(worker), temporal.client, taskQueue, () => now);
  expect((await lookWhereItPolls()).healthy).toBe(true);
  now += 600_000;
  expect((await lookWhereItPolls()).healthy).toBe(true);
});

test('a server that is away is no reason to start the worker anew', async () => {
  // Without interceptors no request is made again: the SDK would throw where that meets a closed connection.
  const connection = Connection.lazy({ address: '127.0.0.1:1', interceptors: [] });
  const away = new Client({ connection });
  const look = watchPolls(partsOf(worker), away, worker.options.taskQueue, () => 0);
  expect(await look()).toEqual({ healthy: true, state: 'polling; Temporal does not answer' });
  await connection.close();
});

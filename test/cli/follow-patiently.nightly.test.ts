import { once } from 'node:events';
import { type AddressInfo, connect as dial, createServer, type Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Client, Connection } from '@temporalio/client';
import { ConductorClient } from '../../src';
import { followPatiently, showRun } from '../../src/cli/kit/view/follow-run';
import type { Session } from '../../src/cli/kit/session';
import { openStage, type Stage, step } from '../support/stage';
import { connect } from '../support/temporal';

/** A proxy to the tests' server that can be cut or stalled. */
interface Way {
  readonly address: string;
  cut(): void;
  /** Lets nothing pass, without closing a connection. */
  stall(): void;
  goOn(): void;
  mend(): Promise<void>;
}

async function openWay(): Promise<Way> {
  const users = await connect();
  await users.close();
  const [host = '', port] = users.address.split(':');
  const sockets = new Set<Socket>();
  const server = createServer((from) => {
    const to = dial(Number(port), host);
    for (const socket of [from, to]) {
      sockets.add(socket);
      socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
    }
    from.pipe(to).pipe(from);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const place = server.address() as AddressInfo;
  return {
    address: `127.0.0.1:${place.port}`,
    cut: () => {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
    stall: () => {
      for (const socket of sockets) socket.pause();
    },
    goOn: () => {
      for (const socket of sockets) socket.resume();
    },
    mend: async () => {
      server.listen(place.port, '127.0.0.1');
      await once(server, 'listening');
    },
  };
}

let way: Way;
let stage: Stage;
let connection: Connection;
beforeEach(async () => {
  way = await openWay();
  stage = await openStage({ workers: ['a'] });
  // Without the interceptor that retries for half a minute.
  connection = await Connection.connect({ address: way.address, interceptors: [] });
});
afterEach(async () => {
  await connection.close();
  await stage.close();
  way.cut();
});

/** Returns the session of a command whose server can go away. */
function session(): Session {
  const temporal = new Client({ connection });
  const { store, taskQueue } = stage;
  const conductor = new ConductorClient({ client: temporal, store, taskQueue });
  return { conductor, temporal, server: { address: way.address } } as Session;
}

test('waits for a lost server, reports loss and return, and gives up with the reason if it stays away', async () => {
  stage.plan([step('a', 'Wait.')]);
  const release = stage.providers.hold('a');
  await stage.whileWorking(async () => {
    const { id } = await stage.client.start({ question: 'Is anyone there?' });
    await stage.providers.waitForRequest(({ model }) => model === 'a');
    const told: string[] = [];
    let mended: Promise<void> | undefined;
    const traces = followPatiently(session(), id, {
      tell: (line) => {
        told.push(line);
        if (line.includes('does not answer')) mended = way.mend().then(release);
      },
    });
    await traces.next();
    way.cut();
    let status: string | undefined;
    for await (const trace of traces) status = trace.status;
    await mended;
    expect(status).toBe('completed');
    expect(told).toEqual([
      expect.stringMatching(/^Temporal at \S+ does not answer \(.+\): waiting for it, 5m at most\.$/),
      `Temporal at ${way.address} answers again.`,
    ]);

    told.length = 0;
    stage.plan([step('a', 'Wait again.')]);
    const releaseAgain = stage.providers.hold('a');
    const again = await stage.client.start({ question: 'And now?' });
    const silent = followPatiently(session(), again.id, {
      tell: (line) => {
        told.push(line);
        if (!line.includes('does not answer')) return;
        way.goOn();
        releaseAgain();
      },
    });
    await silent.next();
    way.stall();
    for await (const trace of silent) status = trace.status;
    expect(status).toBe('completed');
    expect(told[0]).toMatch(/ does not answer \(nothing within 5 s\): waiting/);

    way.cut();
    const impatient = followPatiently(session(), id, { tell: () => undefined, patience: '0s' });
    await expect(impatient.next()).rejects.toThrow(/^Temporal at \S+ has not answered for 0s \(.+\)$/);
  });
});

test('also waits if a connection is closed, as by a proxy whose server is down', async () => {
  const { id } = await stage.client.start({ question: 'Who closed it?' });
  const told: string[] = [];
  const traces = followPatiently(session(), id, { tell: (line) => told.push(line) });
  const closed = new AbortController();
  way.stall();
  const first = connection.withAbortSignal(closed.signal, () => traces.next());
  await nextTurn();
  // The call fails with CANCELLED, as Temporal's native part reports a closed connection.
  closed.abort();
  way.goOn();
  expect((await first).value).toMatchObject({ status: 'running' });
  expect(told[0]).toMatch(/ does not answer \(.+\): waiting/);
  await traces.return(undefined);
});

test('a command that can no longer follow a run says how to come back to it', async () => {
  const following = showRun(session(), 'no-such-run', new AbortController().signal);
  await expect(following).rejects.toThrow(
    /no-such-run.*\. Run no-such-run is kept; come back to it with: temporal-conductor watch no-such-run$/is,
  );
});

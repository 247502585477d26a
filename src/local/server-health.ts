import { once } from 'node:events';
import { connect as connectSocket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { Connection } from '@temporalio/client';

/** How long one question to the server may take. */
const ANSWER_MS = 3_000;
const PAUSE_MS = 50;

/**
 * Waits until the server at `address` (`host:port`, no TLS) answers for `namespace`, which takes its database, too.
 * True when it does, false when its process has ended instead; rejects with the last failure after `patienceMs`.
 */
export async function waitUntilServing(
  address: string,
  namespace: string,
  { isAlive, patienceMs }: { readonly isAlive: () => Promise<boolean>; readonly patienceMs: number },
): Promise<boolean> {
  const deadline = Date.now() + patienceMs;
  for (;;) {
    try {
      await askFor(address, namespace);
      return true;
    } catch (error) {
      if (!(await isAlive())) return false;
      if (Date.now() > deadline) throw error;
    }
    await wait(PAUSE_MS);
  }
}

async function askFor(address: string, namespace: string): Promise<void> {
  // gRPC backs off for a second after a refused connection, so the port is tried first.
  await acceptsConnections(address);
  const connection = await Connection.connect({ address, connectTimeout: ANSWER_MS });
  try {
    await connection.withDeadline(Date.now() + ANSWER_MS, () =>
      connection.workflowService.describeNamespace({ namespace }),
    );
  } finally {
    await connection.close();
  }
}

async function acceptsConnections(address: string): Promise<void> {
  const [host, port] = address.split(':');
  const socket = connectSocket({ host, port: Number(port), timeout: ANSWER_MS });
  socket.once('timeout', () => socket.destroy(new Error(`${address} does not answer`)));
  try {
    await once(socket, 'connect');
  } finally {
    socket.destroy();
  }
}

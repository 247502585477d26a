import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { createKey } from '../../src/gateway/access';
import { step, useStage } from '../support/stage';
import { endOf } from '../support/until';
import { startMeasuredGateway } from './measured';
import { settingsOf } from './stage';

jest.setTimeout(600_000);

const READERS = 300;
const ANSWER = 'The Danube rises in the Black Forest. '.repeat(50_000);
const MOST_GROWTH_BYTES = 300 * 1024 * 1024;

const stage = useStage({ workers: ['a'], simulation: { models: { a: { answer: ANSWER } } } });

/** Asks for a stream, and reads nothing of it but that it comes. */
async function ignore(url: string, path: string, secret: string): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  await once(socket, 'connect');
  socket.write(
    `GET ${path} HTTP/1.1\r\nhost: ${hostname}:${port}\r\nconnection: close\r\nauthorization: Bearer ${secret}\r\n\r\n`,
  );
  await once(socket, 'readable');
  expect(String(socket.read(12))).toBe('HTTP/1.1 200');
  return socket;
}

test(`${READERS} readers that read nothing of a long answer cost others nothing, and are cut off`, async () => {
  const { secret } = await createKey(stage.store, settingsOf({ isAdmin: true }));
  const { secret: other } = await createKey(stage.store, settingsOf({ name: 'other' }));
  stage.plan([step('a', 'Describe its source.')]);
  const { id } = await stage.client.start({ question: 'Where does the Danube rise?' });
  await stage.whileWorking(async () => {
    expect(await endOf(stage, id)).toMatchObject({ status: 'completed', error: null });
  });
  const gateway = await startMeasuredGateway(stage);
  const path = `/api/solves/${id}/events`;
  const models = async (): Promise<number> => {
    const begun = performance.now();
    const response = await fetch(`${gateway.url}/v1/models`, {
      headers: { authorization: `Bearer ${other}` },
    });
    expect(response.status).toBe(200);
    await response.text();
    return performance.now() - begun;
  };
  await models();
  const { mostBytes: before } = await gateway.measure();
  const readers: Socket[] = [];
  let slowestMs = 0;
  const askForModels = async (): Promise<void> => {
    slowestMs = Math.max(slowestMs, await models());
  };
  while (readers.length < READERS) {
    const ten = Array.from({ length: 10 }, () => ignore(gateway.url, path, secret));
    await askForModels();
    readers.push(...(await Promise.all(ten)));
  }
  const begun = performance.now();
  const open = new Set(readers);
  for (const reader of readers) reader.on('error', () => open.delete(reader));
  while (open.size > 0) {
    await askForModels();
    // An empty line between requests means nothing, and fails once the gateway has closed the connection.
    for (const reader of open) reader.write('\r\n');
    await delay(500);
  }
  const allGoneMs = performance.now() - begun;
  const { mostBytes, stopMs } = await gateway.measure();
  await gateway.kill();
  console.info({ beforeMB: before / 1e6, mostMB: mostBytes / 1e6, stopMs, slowestMs, allGoneMs });
  expect(mostBytes - before).toBeLessThan(MOST_GROWTH_BYTES);
});

import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import { freePorts, startServer } from '../../src/local/embedded-server';
import { serves, stopRunningServer, writeServerRecord } from '../../src/local/lease';
import { freshFolder } from './fresh-folder';

let other: Server;
let taken: number;
let folder: string;
beforeEach(async () => {
  folder = await freshFolder();
  [taken = 0] = await freePorts([null]);
  other = createServer((socket) => socket.destroy()).listen(taken, '127.0.0.1');
  await once(other, 'listening');
});
afterEach(async () => {
  await stopRunningServer(folder);
  other.close();
});

/** Starts it with ports that were free when they were chosen: so many times another program then took one. */
const startBeaten = async (times: number, beaten: (free: number) => number[]) => {
  const wishes: (readonly (number | null)[])[] = [];
  const choosePorts: typeof freePorts = async (wished) => {
    wishes.push(wished);
    const ports = await freePorts(wished);
    return wishes.length > times ? ports : beaten(ports[0] ?? 0);
  };
  const setting = { env: process.env, say: () => undefined, choosePorts };
  const outcome = await startServer(folder, 'default', setting).catch(String);
  return { outcome, wishes };
};

test.each([
  ['its own port', (free: number) => [taken, free]],
  ['the port of its page', (free: number) => [free, taken]],
])('a server that lost %s to another program is started on other ports', async (_, beaten) => {
  const { outcome, wishes } = await startBeaten(1, beaten);
  expect(outcome).toMatchObject({ record: { process: { pid: expect.any(Number) as number } } });
  expect(JSON.stringify(outcome)).not.toContain(`:${taken}`);
  expect(wishes).toHaveLength(2);
});

test('the third time it is told in one line, with where the rest is', async () => {
  const { outcome, wishes } = await startBeaten(Infinity, (free) => [free, taken]);
  expect(wishes).toHaveLength(3);
  expect(outcome).toContain(`last: listen tcp 127.0.0.1:${taken}: bind: address already in use. Try again`);
  expect(outcome).toContain(`${folder}/server.log`);
  expect(outcome).not.toContain('\n');
});

test('a database that a server has open is open to no other, whoever starts it', async () => {
  const setting = { env: process.env, say: () => undefined };
  const first = await startServer(folder, 'default', setting);
  const second = await startServer(folder, 'default', setting).catch(String);
  expect(second).toMatch(
    /database is locked.* Another server has it open: stop that one, or set TEMPORAL_ADDRESS/,
  );
  expect(await serves(first.record, 'default')).toBe(true);
  await writeServerRecord(folder, first.record);
});

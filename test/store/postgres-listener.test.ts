import { EventEmitter, on } from 'node:events';
import { EncryptedStore } from '../../src/store/encrypted-store';
import { openStore } from '../../src/store/open-store';
import type { Store } from '../../src';
import { keyRing } from '../encryption/test-keys';
import { HAS_POSTGRES, PostgresServer } from '../support/postgres-server';
import { until } from '../support/until';

const folderOf = (letter: string): string => `live/${letter.repeat(64)}/`;
const [FOLDER, OTHER] = [folderOf('a'), folderOf('b')];

const LISTENERS = `SELECT pid FROM pg_stat_activity WHERE query = 'LISTEN temporal_conductor'`;

(HAS_POSTGRES ? describe : describe.skip)('a store in PostgreSQL wakes readers of a log', () => {
  let server: PostgresServer;
  let store: Store;
  const ends: (() => void)[] = [];

  beforeAll(async () => {
    server = await PostgresServer.start();
    store = openStore(server.url(), '/');
    await store.migrate?.();
  });
  afterEach(async () => {
    for (const end of ends.splice(0)) end();
    await until(
      () => server.run(LISTENERS),
      (found) => found.length === 0,
    );
  });
  afterAll(() => server.close());

  let appended = 0;
  const append = (to: Store, ...folders: string[]): Promise<void> | undefined =>
    to.append?.(folders.map((folder) => [`${folder}w/${(appended += 1)}.json`, Buffer.of()] as const));

  /** Listens to a folder: `woken` resolves at the next wake not awaited yet, `wakes` counts them all. */
  function listen(to: Store, folder = FOLDER): { woken: () => Promise<unknown>; wakes: () => number } {
    let rung = 0;
    const bell = new EventEmitter();
    const wakes = on(bell, 'wake');
    const wake = (): void => {
      rung += 1;
      bell.emit('wake');
    };
    ends.push(to.onAppend?.(folder, wake) ?? (() => undefined));
    return { woken: () => wakes.next(), wakes: () => rung };
  }

  test('when it starts to listen, and then for each batch of their run, over one connection per process', async () => {
    const [reader, other] = [listen(store), listen(openStore(server.url(), '/'), OTHER)];
    await Promise.all([reader.woken(), other.woken()]);
    expect(await server.run(LISTENERS)).toHaveLength(1);
    await append(store, FOLDER, FOLDER);
    await reader.woken();
    await append(store, OTHER, FOLDER);
    await Promise.all([reader.woken(), other.woken()]);
    expect([reader.wakes(), other.wakes()]).toEqual([3, 2]);
  });

  test('if names are encrypted', async () => {
    const encrypted = new EncryptedStore(store, keyRing('stores'));
    const reader = listen(encrypted);
    await reader.woken();
    await append(encrypted, FOLDER);
    await reader.woken();
  });

  test('for a batch of more runs than one notification can name', async () => {
    const reader = listen(store);
    await reader.woken();
    const others = Array.from({ length: 200 }, (_, index) => `live/${String(index).padStart(64, '0')}/`);
    await append(store, ...others, FOLDER);
    await reader.woken();
  });

  test('again after its connection was lost and it listens once more', async () => {
    const reader = listen(store);
    await reader.woken();
    await server.run(`SELECT pg_terminate_backend(pid) FROM (${LISTENERS}) AS found`);
    await reader.woken();
    await append(store, FOLDER);
    await reader.woken();
  });

  test('once the server is back, and fails no reader while it is down', async () => {
    await server.end('SIGQUIT');
    const reader = listen(store);
    await expect(store.read('texts/ab')).rejects.toThrow('cannot be reached');
    await server.begin();
    await reader.woken();
  });
});

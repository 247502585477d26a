import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EncryptedStore } from '../../src/store/encrypted-store';
import { SqliteStore } from '../../src/store/sqlite-store';
import { sumCosts } from '../../src/store/costs';
import type { Store } from '../../src/store/store';
import { keepText, readText } from '../../src/store/texts';
import { keyRing } from '../encryption/test-keys';
import { readLedger } from '../support/ledger-of';
import { readReport } from '../support/read-report';
import { attempt, Provider } from './one-call';

let folder: string;
let provider: Provider;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'damaged-'));
  provider = new Provider();
});
afterEach(() => rm(folder, { recursive: true }));

const LEFT: readonly [string, (bytes: Buffer) => Buffer][] = [
  ['emptied', () => Buffer.alloc(0)],
  ['full of zeros', (bytes) => Buffer.alloc(bytes.length)],
  ['cut', (bytes) => bytes.subarray(0, bytes.length / 2)],
];

/** Leaves of what lies in some places what a damaged copy may hold. */
async function losePower(places: readonly string[], left: (bytes: Buffer) => Buffer): Promise<void> {
  const beneath = new SqliteStore(join(folder, 'store.db'));
  for (const place of places) {
    for (const key of await beneath.list(`${place}/`)) {
      await beneath.write(key, left((await beneath.read(key)) ?? Buffer.alloc(0)));
    }
  }
}

const PLACES = [
  ['answers'],
  ['texts'],
  ['ledger'],
  ['answers', 'texts'],
  ['answers', 'ledger'],
  ['texts', 'ledger'],
  ['answers', 'texts', 'ledger'],
];

describe.each<[string, () => Store]>([
  ['a database', () => new SqliteStore(join(folder, 'store.db'))],
  [
    'an encrypted one',
    () => new EncryptedStore(new SqliteStore(join(folder, 'store.db')), keyRing('damaged')),
  ],
])('in %s', (_, open) => {
  describe.each(PLACES.map((places) => [places.join(' and '), places] as const))('with %s', (__, places) => {
    test.each(LEFT)('%s, a call comes to an answer, once more at most', async (___, left) => {
      const store = open();
      await attempt(store, provider.complete);
      await losePower(places, left);
      const { output, calls } = await attempt(store, provider.complete);
      expect(await readText(store, output)).toMatch(/^answer [12] /);
      expect(provider.bought).toBe(places.includes('answers') || places.includes('texts') ? 2 : 1);
      expect(calls).toHaveLength(provider.bought);
      for (const call of calls) expect(call).toMatchObject({ worker: 'ada', model: 'sim-1' });

      expect(await attempt(store, provider.complete)).toMatchObject({ output });
      expect(await readLedger(store)).toHaveLength(provider.bought);
      const { total } = await readReport(await sumCosts(store, { by: 'worker', zone: 'utc' }));
      expect(total.calls).toBe(provider.bought);
    });
  });

  test.each(LEFT)('a text that is %s is written anew when it is kept again', async (__, left) => {
    const store = open();
    const text = 'long answer '.repeat(1000);
    const kept = await keepText(store, text);
    await losePower(['texts'], left);
    await expect(readText(store, kept)).rejects.toThrow(/sha256-|texts\//);
    await keepText(store, text);
    expect(await readText(store, kept)).toBe(text);
  });

  test.each(LEFT)('a row that is %s counts as open, of unknown cost', async (__, left) => {
    const store = open();
    await attempt(store, provider.complete);
    await losePower(['ledger'], left);
    const { total, lines } = await readReport(await sumCosts(store, { by: 'worker', zone: 'utc' }));
    expect(total).toMatchObject({ calls: 1, open: 1, unknown: 1 });
    expect(lines).toMatchObject([{ name: 'unknown' }]);
  });
});

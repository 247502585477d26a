import type { RateLimiter } from '../../src/activities/rate-limits/limiter';
import type { RateLimits } from '../../src/activities/rate-limits/window';
import { DAY_MS } from '../../src/config/duration';
import { openStore } from '../../src/store/open-store';
import { timeAgo } from '../../src/store/store';
import type { Store, StoredEntry } from '../../src';
import { openLimiter } from '../support/open-limiter';
import { ENCRYPTED_STORES, STORES } from '../support/stores';
import { useOnce } from '../support/use';

describe.each([...STORES, ...ENCRYPTED_STORES])('a store of kind %s', (_, startStores) => {
  const stores = useOnce(startStores);
  let store: Store;
  beforeEach(async () => (store = await stores.open()));

  test('reads the bytes that were written last, and null if nothing was written', async () => {
    const bytes = Buffer.from(Array.from({ length: 256 }, (__, byte) => byte));
    for (const each of [Buffer.from('opened'), bytes, Buffer.alloc(0)]) {
      await store.write('ledger/row.json', each);
      expect(await store.read('ledger/row.json')).toEqual(each);
    }
    expect(await store.read('ledger/other.json')).toBeNull();
  });

  test('has an id that the first of many makes, and no other store has', async () => {
    expect(await store.id?.('read')).toBeNull();
    const made = await Promise.all(Array.from({ length: 8 }, async () => store.id?.('make')));
    const [id] = made;
    expect(id).toMatch(/^[0-9a-f]{12}$/);
    expect([...made, await store.id?.('read')]).toEqual(Array.from({ length: 9 }, () => id));
    expect(await (await stores.open()).id?.('make')).not.toBe(id);
  });

  test('creates what does not exist, and leaves what exists unchanged', async () => {
    expect(await store.create('ledger/row.json', Buffer.from('first'))).toBe(true);
    expect(await store.create('ledger/row.json', Buffer.from('second'))).toBe(false);
    expect((await store.read('ledger/row.json'))?.toString()).toBe('first');
    await store.write('ledger/row.json', Buffer.from('completed'));
    expect(await store.create('ledger/row.json', Buffer.from('third'))).toBe(false);
    expect((await store.read('ledger/row.json'))?.toString()).toBe('completed');
  });

  test('appends many entries at once, if it can, and leaves existing ones unchanged', async () => {
    if (store.append === undefined) return;
    await store.append([]);
    await store.append([
      ['live/one', Buffer.from('1')],
      ['live/two', Buffer.from('2')],
    ]);
    await store.append([['live/two', Buffer.from('other')]]);
    expect(await store.list('live/')).toEqual(['live/one', 'live/two']);
    expect(String(await store.read('live/two'))).toBe('2');
    await expect(store.append([['../live', Buffer.of()]])).rejects.toThrow('is refused');
  });

  test('creates an entry and writes others in one commit, if it can: all of them, or none', async () => {
    if (store.createWith === undefined) return;
    const [answer, text, row] = ['answers/ab/abc.json', 'texts/ab/abc', 'ledger/run/abc/1.json'];
    const valuesOf = (): Promise<(string | undefined)[]> =>
      Promise.all([answer, text, row].map(async (key) => (await store.read(key))?.toString()));
    const writeAll = (value: string): Promise<boolean> | undefined =>
      store.createWith?.(answer, Buffer.from(value), [
        [text, Buffer.from(value)],
        [row, Buffer.from(value)],
      ]);
    await store.write(row, Buffer.from('open'));
    expect(await writeAll('"first"')).toBe(true);
    expect(await valuesOf()).toEqual(['"first"', '"first"', '"first"']);
    expect(await writeAll('"second"')).toBe(false);
    expect(await valuesOf()).toEqual(['"first"', '"first"', '"first"']);
    await expect(store.createWith(answer, Buffer.of(), [['../row', Buffer.of()]])).rejects.toThrow(
      'is refused',
    );
    const created = await Promise.all(
      Array.from({ length: 10 }, async (__, index) =>
        store.createWith?.('same/key', Buffer.from(String(index)), [[text, Buffer.from(String(index))]]),
      ),
    );
    expect(created.filter((isMine) => isMine)).toHaveLength(1);
    const [, winner] = await valuesOf();
    expect(winner).toBe(String(created.indexOf(true)));
  });

  test('lets exactly one of many concurrent creates of a key succeed', async () => {
    const values = Array.from({ length: 10 }, (__, index) => String(index).repeat(100_000));
    const created = await Promise.all(values.map((value) => store.create('same/key', Buffer.from(value))));
    expect(created.filter((isMine) => isMine)).toHaveLength(1);
    expect((await store.read('same/key'))?.toString()).toBe(values[created.indexOf(true)]);
    expect(await store.list('same/')).toEqual(['same/key']);
  });

  test('replaces a value only if it is still the one that was read', async () => {
    const [first, second, third] = [Buffer.from('first'), Buffer.from('second'), Buffer.alloc(0)];
    expect(await store.replace('serving.json', second, first)).toBe(false);
    expect(await store.read('serving.json')).toBeNull();
    await store.create('serving.json', first);
    expect(await store.replace('serving.json', third, second)).toBe(false);
    expect(await store.replace('serving.json', second, first)).toBe(true);
    expect(await store.replace('serving.json', third, first)).toBe(false);
    expect(await store.read('serving.json')).toEqual(second);
    expect(await store.replace('serving.json', third, second)).toBe(true);
    expect(await store.replace('serving.json', first, third)).toBe(true);
    expect(await store.read('serving.json')).toEqual(first);
    expect(await store.list('texts/')).toEqual([]);
  });

  test('loses no increment of a counter that many increase concurrently', async () => {
    await store.create('count', Buffer.from('0'));
    const countOn = async (): Promise<void> => {
      const was = (await store.read('count')) ?? Buffer.alloc(0);
      const next = Buffer.from(String(Number(was.toString()) + 1));
      if (!(await store.replace('count', next, was))) await countOn();
    };
    await Promise.all(Array.from({ length: 8 }, countOn));
    expect((await store.read('count'))?.toString()).toBe('8');
  });

  test('keeps one whole value when many write a key concurrently', async () => {
    const values = Array.from({ length: 10 }, (__, index) => String(index).repeat(100_000));
    await Promise.all(values.map((value) => store.write('same/key', Buffer.from(value))));
    expect(values).toContain((await store.read('same/key'))?.toString());
    expect(await store.list('same/')).toEqual(['same/key']);
  });

  test('reports the size and time of an entry, and null for a missing one', async () => {
    await store.write('texts/ab/abc', Buffer.from('hello'));
    const entry = await store.stat('texts/ab/abc');
    expect(entry?.key).toBe('texts/ab/abc');
    expect(entry?.bytes).toBeGreaterThanOrEqual(5);
    expect(Math.abs(Date.now() - Number(entry?.modifiedAt))).toBeLessThan(60_000);
    expect(await store.stat('texts/ab/other')).toBeNull();
    expect(await store.stat('texts/ab')).toBeNull();
  });

  test('lists the keys below a prefix in order, and no others', async () => {
    const keys = ['ledger/run/b/1.json', 'ledger/run/a/2.json', 'ledger/run/a/1.json', 'ledger/run-2/1.json'];
    for (const key of keys) await store.write(key, Buffer.from('row'));
    expect(await store.list('ledger/run/')).toEqual([
      'ledger/run/a/1.json',
      'ledger/run/a/2.json',
      'ledger/run/b/1.json',
    ]);
    expect(await store.list('ledger/nobody/')).toEqual([]);
    await store.write('serving.json', Buffer.from('row'));
    expect(await store.list('')).toEqual([...keys, 'serving.json'].sort());
  });

  test('lists keys in byte order, whatever the database locale', async () => {
    const keys = ['B', 'a', 'a-1', 'a.b', 'a_c', 'aB', 'ab', 'Z', '10', '9'].map((name) => `many/${name}`);
    await Promise.all([...keys, 'many-more/1'].map((key) => store.write(key, Buffer.from('x'))));
    expect(await store.list('many/')).toEqual([...keys].sort());
  });

  test('reports every entry below a prefix', async () => {
    const keys = ['texts/ab/abc', 'texts/cd/cde'];
    for (const key of [...keys, 'answers/ab/abc']) await store.write(key, Buffer.from('x'));
    const found: StoredEntry[] = [];
    for await (const entry of store.entries('texts/')) found.push(entry);
    expect(found.map(({ key }) => key).sort()).toEqual(keys);
    expect(found.map(({ bytes }) => bytes)).toEqual(found.map(() => found[0]?.bytes));
    expect(Math.abs(Date.now() - Number(found[0]?.modifiedAt))).toBeLessThan(60_000);
  });

  test('removes only what is older than a given time', async () => {
    await store.write('texts/ab/old', Buffer.from('old'));
    await stores.age(48);
    await store.write('texts/ab/young', Buffer.from('young'));
    const yesterday = new Date(Date.now() - 24 * 60 * 60 * 1000);

    const { bytes } = (await store.stat('texts/ab/old')) ?? {};
    expect(await store.removeOlder('texts/ab/old', yesterday)).toBe(bytes);
    expect(await store.removeOlder('texts/ab/young', yesterday)).toBe(0);
    expect(await store.removeOlder('texts/ab/nothing', yesterday)).toBe(0);
    expect(await store.list('texts/')).toEqual(['texts/ab/young']);
    expect(await store.read('texts/ab/old')).toBeNull();
  });

  test('measures the age of an entry by its own clock, however far ahead this one is', async () => {
    const [hour, now] = [3_600_000, Date.now()];
    await store.write('texts/ab/new', Buffer.from('x'));
    const ahead = jest.spyOn(Date, 'now').mockReturnValue(now + 48 * hour);
    try {
      expect(await store.removeOlder('texts/ab/new', await timeAgo(store, hour))).toBe(0);
      expect(await store.removeOlder('texts/ab/new', await timeAgo(store, -hour))).toBeGreaterThan(0);
    } finally {
      ahead.mockRestore();
    }
  });

  const outside = ['/', '../up', 'a/../../b', '/etc/passwd', 'https://somewhere.example/x'];
  const unusual = ['', 'a//b', '.hidden', 'a/.b', 'a\\b', 'a\0b', 'a/', 'x'.repeat(200)];
  test.each([...outside, ...unusual])('refuses the key %j', async (key) => {
    const bytes = Buffer.from('x');
    const calls = [store.write(key, bytes), store.create(key, bytes), store.replace(key, bytes, bytes)];
    const looks = [store.read(key), store.stat(key), store.removeOlder(key, new Date())];
    for (const refused of [...calls, ...looks]) await expect(refused).rejects.toThrow(/refused/);
  });
});

const DATABASES = [...STORES, ...ENCRYPTED_STORES].filter(([kind]) => /^(?:sqlite:|postgres:..$)/.test(kind));

// Timers that renew the calls which tests leave open; cleared at the end of each block.
const renewals = jest.spyOn(globalThis, 'setInterval');

describe.each(DATABASES)('the rate limits of models in a store of kind %s', (kind, startStores) => {
  afterAll(() => {
    for (const { value } of renewals.mock.results) clearInterval(value as NodeJS.Timeout);
  });
  const stores = useOnce(startStores);
  let store: Store;
  beforeEach(async () => (store = await stores.open()));

  const ratesOf = ({ rates }: Store) => {
    if (rates === undefined) throw new Error(`${kind} shares no rates`);
    return rates;
  };

  /** Opens limiters of one model as two processes would, each with its own connection. */
  const openLimiters = (limits: Partial<RateLimits>): [RateLimiter, RateLimiter] => {
    const other = kind.startsWith('sqlite:') ? openStore(store.url, '/') : store;
    return [openLimiter(limits, ratesOf(store)), openLimiter(limits, ratesOf(other))];
  };

  /** Asks each limiter `times` times, all at once, and returns the granted permits. */
  const enterAll = async (limiters: readonly RateLimiter[], times: number) => {
    const asked = Array.from({ length: times }, () => limiters.map((each) => each.acquire(100))).flat();
    return (await Promise.all(asked)).flatMap((permit) => ('release' in permit ? [permit] : []));
  };

  test('are shared by all processes: requests, tokens and concurrent calls', async () => {
    expect(await enterAll(openLimiters({ requestsPerMinute: 7 }), 10)).toHaveLength(7);
    store = await stores.open();
    expect(await enterAll(openLimiters({ tokensPerMinute: 550 }), 10)).toHaveLength(5);
    store = await stores.open();
    expect(await enterAll(openLimiters({ concurrency: 3 }), 10)).toHaveLength(3);
  });

  test('pass the place and the unused tokens of a finished call on to another process', async () => {
    const [one, other] = openLimiters({ concurrency: 1, tokensPerMinute: 130 });
    const [permit] = await enterAll([one], 1);
    expect(await other.acquire(100)).toMatchObject({ reason: 'concurrency' });
    permit?.release({ tokens: 30, health: 'good' });
    // One process makes its changes in order, so this request comes after the release.
    expect(await one.acquire(101)).toMatchObject({ reason: 'rate' });
    expect(await other.acquire(100)).toHaveProperty('confirm');
  });

  test('follow a time of their own, whatever the clock of a process says', async () => {
    const rates = ratesOf(store);
    const { now: before } = await rates.read('model');
    const clock = jest.spyOn(Date, 'now').mockReturnValue(0);
    const { now: after, text } = await rates.read('model');
    clock.mockRestore();
    expect(text).toBeNull();
    expect(after).toBeGreaterThanOrEqual(before);
    expect(after - before).toBeLessThan(DAY_MS);
  });

  test('are changed by exactly one of several concurrent changes', async () => {
    const rates = ratesOf(store);
    const swapAll = async (version: number): Promise<readonly boolean[]> =>
      Promise.all(['a', 'b', 'c'].map((text) => rates.swap('model', text, version)));
    expect((await swapAll(0)).filter((isMine) => isMine)).toHaveLength(1);
    const { text, version } = await rates.read('model');
    expect(['a', 'b', 'c']).toContain(text);
    expect((await swapAll(version)).filter((isMine) => isMine)).toHaveLength(1);
    expect(await rates.swap('model', 'late', version)).toBe(false);
  });
});

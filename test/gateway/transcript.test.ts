import { setTimeout as pause } from 'node:timers/promises';
import fc from 'fast-check';
import type { Store } from '../../src';
import { forgetTranscripts, type Happening, Transcript } from '../../src/gateway/solve/transcript';
import { sqliteStores } from '../support/stores';
import { until } from '../support/until';
import { useOnce } from '../support/use';

const stores = useOnce(sqliteStores);
let store: Store;
beforeEach(async () => (store = await stores.open()));

interface Source {
  /** Time that each event takes to come, in ms; a negative one is left out, unless it is the last. */
  readonly waits: readonly number[];
  /** Name of the reader, so that events of two readers always differ. */
  readonly reader: string;
}

function transcriptOf(id: string, { waits, reader }: Source): Transcript<string> {
  return new Transcript<string>({
    store,
    id,
    async *open(after, signal): AsyncGenerator<Happening<string>> {
      for (let index = Number(after ?? -1) + 1; index < waits.length; index += 1) {
        const wait = waits[index] ?? 0;
        if (wait > 0) await pause(wait, null, { signal }).catch(() => undefined);
        if (signal.aborted) return;
        const isLast = index === waits.length - 1;
        if (wait < 0 && !isLast) continue;
        yield { cursor: String(index), event: `${index} ${reader}`, isLast };
      }
    },
  });
}

/** Takes at most `most` events, with a pause of `ms` after each. */
async function read(transcript: Transcript<string>, most: number, ms: number): Promise<string[]> {
  const gone = new AbortController();
  const taken: string[] = [];
  for await (const event of transcript.follow(gone.signal)) {
    if (taken.length >= most) break;
    taken.push(event);
    if (ms > 0) await pause(ms);
    if (taken.length >= most) gone.abort();
  }
  return taken;
}

test('concurrent readers, one of which stops, get the same events, and each once', async () => {
  const readers = fc.record({
    waits: fc.array(fc.integer({ min: -2, max: 12 }), { minLength: 1, maxLength: 40 }),
    stopsAfter: fc.nat({ max: 40 }),
    starts: fc.nat({ max: 60 }),
    slow: fc.nat({ max: 4 }),
  });
  let runs = 0;
  await fc.assert(
    fc.asyncProperty(readers, async ({ waits, stopsAfter, starts, slow }) => {
      const id = `run-${(runs += 1)}`;
      const begun = read(transcriptOf(id, { waits, reader: 'a' }), stopsAfter, slow);
      await pause(starts);
      const followed = read(transcriptOf(id, { waits, reader: 'b' }), Infinity, 0);
      const [first, second] = await Promise.all([begun, followed]);
      const third = await read(transcriptOf(id, { waits, reader: 'c' }), Infinity, 0);
      expect(first).toEqual(third.slice(0, first.length));
      expect(second).toEqual(third);
      const told = waits.flatMap((wait, index) => (wait < 0 && index < waits.length - 1 ? [] : [index]));
      expect(third.map((event) => Number(event.split(' ')[0]))).toEqual(told);
    }),
    { numRuns: 25 },
  );
}, 120_000);

test('nothing is sent before it is in the store', async () => {
  const create = jest.spyOn(store, 'create').mockRejectedValue(new Error('no reply'));
  const told = read(transcriptOf('run', { waits: [0, 0], reader: 'a' }), Infinity, 0);
  await expect(told).rejects.toThrow('no reply');
  expect(create).toHaveBeenCalledTimes(1);
});

test.each([
  ['at-once', 0],
  ['fast', 5],
])(
  'entries of events that come %s are made at least 0.2 s apart, but for the first and the last',
  async (id, wait) => {
    const source = { waits: Array.from({ length: 100 }, () => wait), reader: 'a' };
    const begun = performance.now();
    expect(await read(transcriptOf(id, source), Infinity, 0)).toHaveLength(100);
    // Timers may fire a little early.
    const most = 2 + (performance.now() - begun) / 190;
    expect((await store.list(`gateway/streams/${id}/`)).length).toBeLessThanOrEqual(most);
  },
);

test.each([
  ['stopped', false],
  ['whole', true],
])('a reader of a transcript that is %s leaves nothing open', async (id, isLast) => {
  let isOpen = false;
  const transcript = new Transcript<string>({
    store,
    id,
    async *open(_, signal) {
      isOpen = true;
      try {
        yield { cursor: '0', event: 'first', isLast };
        await pause(60_000, null, { signal }).catch(() => undefined);
      } finally {
        isOpen = false;
      }
    },
  });
  for await (const event of transcript.follow(new AbortController().signal)) {
    expect(event).toBe('first');
    if (!isLast) break;
  }
  await until(
    () => isOpen,
    (isStillOpen) => !isStillOpen,
  );
});

test('a complete transcript is deleted a day after its last event, any other once no solve can be as old', async () => {
  const source = (wait: number): Source => ({ waits: [0, wait, 0], reader: 'a' });
  await read(transcriptOf('whole', source(300)), Infinity, 0);
  // Its next event never comes.
  await read(transcriptOf('stopped', source(600_000)), 1, 0);
  const left = async (): Promise<Set<string | undefined>> =>
    new Set((await store.list('gateway/streams/')).map((key) => key.split('/')[2]));
  await forgetTranscripts(store);
  expect(await left()).toEqual(new Set(['whole', 'stopped']));
  await stores.age(25);
  await forgetTranscripts(store);
  expect(await left()).toEqual(new Set(['stopped']));
  await stores.age(25 * 24);
  await forgetTranscripts(store);
  expect(await left()).toEqual(new Set());
});

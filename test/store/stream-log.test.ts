import fc from 'fast-check';
import type { Store } from '../../src';
import { LiveReader, type LiveText, LiveWriter } from '../../src/store/stream-log';
import { ENCRYPTED_STORES, STORES } from '../support/stores';
import { useOnce } from '../support/use';

const piece = (callId: string, offset: number, text = 'Eight. '): LiveText & { readonly rootId: string } => ({
  ...{ rootId: 'run', workflowId: 'run', round: 0, step: 0, callId, attempt: 1 },
  startedAt: '2026-01-01T00:00:00.000Z',
  offset,
  text,
});

async function drain(reader: LiveReader): Promise<string[]> {
  const found: string[] = [];
  for await (const texts of reader.read())
    found.push(...texts.map(({ callId, offset }) => `${callId} ${offset}`));
  return found;
}

const LOGS = [...STORES, ...ENCRYPTED_STORES].filter(([kind]) => !kind.startsWith('s3:'));

describe.each(LOGS)('the stream log in a store of kind %s', (_, startStores) => {
  const stores = useOnce(startStores);
  let store: Store;
  beforeEach(async () => (store = await stores.open()));

  test("delivers every piece once, each writer's in order, however writes and reads interleave", async () => {
    const WRITERS = 3;
    const write = fc.record({ writer: fc.nat({ max: WRITERS - 1 }), size: fc.integer({ min: 1, max: 40 }) });
    const steps = fc.array(fc.oneof(write, fc.constant('look' as const), fc.constant('restart' as const)), {
      maxLength: 12,
    });
    let runs = 0;
    await fc.assert(
      fc.asyncProperty(steps, async (done) => {
        const rootId = `run-${(runs += 1)}`;
        const writers = Array.from({ length: WRITERS }, () => new LiveWriter(store));
        const written: string[][] = writers.map(() => []);
        const reader = new LiveReader(store, rootId);
        const found: string[] = [];
        for (const each of done) {
          if (each === 'look') found.push(...(await drain(reader)));
          else if (each === 'restart') writers[0] = new LiveWriter(store);
          else {
            for (let count = 0; count < each.size; count += 1) {
              const own = written[each.writer] ?? [];
              const text = piece(`call-${each.writer}`, own.length);
              own.push(`${text.callId} ${text.offset}`);
              await writers[each.writer]?.write([
                { ...text, rootId },
                { ...text, rootId: 'another' },
              ]);
            }
          }
        }
        found.push(...(await drain(reader)), ...(await drain(reader)));
        for (const [writer, own] of written.entries()) {
          const read = found.filter((name) => name.startsWith(`call-${writer} `));
          // The pieces of a replaced writer may be read before or after those of its successor.
          if (writer === 0) read.sort((a, b) => Number(a.slice(7)) - Number(b.slice(7)));
          expect(read).toEqual(own);
        }
      }),
      { numRuns: 10 },
    );
  });

  test('reads only what is new, and does not look at an old log again', async () => {
    const writer = new LiveWriter(store);
    for (let offset = 0; offset < 100; offset += 1) await writer.write([piece('call', offset)]);
    const [read, list] = [jest.spyOn(store, 'read'), jest.spyOn(store, 'list')];
    const reader = new LiveReader(store, 'run');
    const sizes: number[] = [];
    for await (const texts of reader.read()) sizes.push(texts.length);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(16);
    read.mockClear();
    list.mockClear();
    await writer.write([piece('call', 100)]);
    expect(await drain(reader)).toEqual(['call 100']);
    const listed = await Promise.all(list.mock.results.map(({ value }) => value as Promise<string[]>));
    expect(listed.flat()).toHaveLength(1);
    expect(read.mock.calls.length).toBeLessThanOrEqual(3);
  });

  test('has no gap after a failed write, whether or not the store kept it', async () => {
    const reader = new LiveReader(store, 'run');
    const append = store.append?.bind(store);
    let isKept = false;
    const writer = new LiveWriter({
      append: async (entries) => {
        if (isKept) await append?.(entries);
        throw new Error('no reply');
      },
    });
    await expect(writer.write([piece('call', 0)])).rejects.toThrow('no reply');
    isKept = true;
    await expect(writer.write([piece('call', 1)])).rejects.toThrow('no reply');
    await expect(writer.write([piece('call', 2)])).rejects.toThrow('no reply');
    expect((await drain(reader)).sort()).toEqual(['call 1', 'call 2']);
  });

  test('counts batches for a limited number of runs, and uses another name beyond them', async () => {
    const writer = new LiveWriter(store);
    const others = Array.from({ length: 2001 }, (__, index) => ({
      ...piece('call', 0),
      rootId: `run-${index}`,
    }));
    await writer.write([piece('call', 0), ...others]);
    await writer.write([piece('call', 1)]);
    const list = jest.spyOn(store, 'list');
    expect((await drain(new LiveReader(store, 'run'))).sort()).toEqual(['call 0', 'call 1']);
    expect(await list.mock.results[0]?.value).toHaveLength(2);
  });
});

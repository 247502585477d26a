import { openEncryptedStage } from '../../encryption/encrypted-stage';
import { keyRing } from '../../encryption/test-keys';
import { openStage, step, type Stage, type StageOptions } from '../../support/stage';
import { STORES } from '../../support/stores';
import { useEach, useOnce } from '../../support/use';

const NAMES = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j'];
const MAX_HISTORY_BYTES = 100_000;

const historyBytes = async ({ temporal }: Stage, id: string): Promise<number> =>
  (await temporal.client.workflow.getHandle(id).describe()).historySize ?? Infinity;

/** Returns a long text that is unique to a name. */
function longText(name: string, bytes: number): string {
  return `${name} says `.padEnd(bytes, `${name}${name.repeat(7)} `);
}

/** Opens a stage with encrypted payloads and store, whose own client and worker have the key. */
async function openEncrypted(options: StageOptions): Promise<Stage> {
  const keys = keyRing('texts');
  const stage = await openEncryptedStage(options);
  return {
    ...stage,
    client: stage.conductorWith(keys),
    store: stage.storeWith(keys),
    whileWorking: (work, workerOptions) => stage.whileWorkingWith(keys, work, workerOptions),
  };
}

const SETTINGS = STORES.flatMap(([kind, stores]) => [
  [kind, stores, openStage] as const,
  // Encryption wraps every kind of store alike, so two kinds are enough for such slow tests.
  ...(kind === 'postgres://' ? [] : [[`${kind}, all encrypted`, stores, openEncrypted] as const]),
]);

describe.each(SETTINGS)(
  'with a store of kind %s, texts of any length pass by reference:',
  (_, startStores, open) => {
    const stores = useOnce(startStores);
    // A busy machine may work at the longest texts for several seconds without a heartbeat.
    const temporal = { heartbeat: '60s' };
    const limits = { steps: NAMES.length + 1, depth: 1 };
    const config = { recursion: 'worker', limits, temporal } as const;
    const stage = useEach(async () => open({ workers: NAMES, store: await stores.open(), config }));

    test('an output of 20 MB, seen by the next step', async () => {
      const long = longText('a', 20_000_000);
      stage.plan([step('a', 'Say very much.'), step('b', 'Sum it up.', [0])]);
      stage.providers.answer('a', long);
      stage.providers.answer('b', 'short');
      const result = await stage.whileWorking(() => stage.client.solve({ question: 'Does it pass?' }));

      expect(result).toMatchObject({ status: 'completed', degraded: false, answer: 'short' });
      expect(result.rounds[0]?.steps[0]?.output === long).toBe(true);
      expect(stage.providers.log.filter(({ body }) => body.includes(long))).toHaveLength(1);
      expect(await stage.store.list('texts/')).toHaveLength(1);
      expect(await historyBytes(stage, result.id)).toBeLessThan(MAX_HISTORY_BYTES);
    });

    test('ten outputs of 500 kB side by side', async () => {
      const everybody = NAMES.map((name) => step(name, 'Say much.'));
      stage.plan([...everybody, step('a', 'Sum them up.', [...NAMES.keys()])]);
      for (const name of NAMES) stage.providers.script(name, [longText(name, 500_000)]);
      stage.providers.answer('a', 'short');
      const result = await stage.whileWorking(() => stage.client.solve({ question: 'Do they pass?' }));

      expect(result).toMatchObject({ status: 'completed', degraded: false, answer: 'short' });
      const steps = result.rounds[0]?.steps.slice(0, -1) ?? [];
      const isWhole = steps.map(({ worker, output }) => output === longText(worker, 500_000));
      expect(isWhole).toEqual(NAMES.map(() => true));
      expect(await stage.store.list('texts/')).toHaveLength(NAMES.length);
      expect(await historyBytes(stage, result.id)).toBeLessThan(MAX_HISTORY_BYTES);
    });

    test('an output of 1 MB that the Conductor and five steps of a child run see', async () => {
      const long = longText('a', 1_000_000);
      const readers = NAMES.slice(1, 6);
      stage.plan([step('a', 'Say much.'), step('conductor', 'Have it read.', [0])]);
      stage.plan(readers.map((name) => step(name, 'Read it.')));
      stage.providers.answer('a', long);
      const result = await stage.whileWorking(() => stage.client.solve({ question: 'Is it seen below?' }));

      expect(result).toMatchObject({ status: 'completed', degraded: false, stoppedBy: null });
      const seen = stage.providers.log.filter(({ body }) => body.includes(long)).map(({ model }) => model);
      expect(seen.sort()).toEqual([...readers, 'conductor'].sort());
      expect(await stage.store.list('texts/')).toHaveLength(1);
      const childId = result.rounds[1]?.childId ?? 'none';
      expect(await historyBytes(stage, result.id)).toBeLessThan(MAX_HISTORY_BYTES);
      expect(await historyBytes(stage, childId)).toBeLessThan(MAX_HISTORY_BYTES);
    });

    test('an output over the cap of 32 MiB fails its step, and the run continues without it', async () => {
      stage.plan([step('a', 'Say far too much.'), step('b', 'Go on.')]);
      stage.providers.answer('a', longText('a', 33 * 1024 * 1024));
      const result = await stage.whileWorking(() => stage.client.solve({ question: 'Is it refused?' }));

      expect(result).toMatchObject({ status: 'completed', degraded: true });
      expect(result.rounds[0]?.steps[0]?.error).toMatchObject({
        type: 'Store.TextTooLarge',
        message: expect.stringMatching(/worker a \(a\).*34603008 bytes/) as string,
      });
      expect(stage.providers.log.filter(({ model }) => model === 'a')).toHaveLength(1);
      expect(await stage.store.list('texts/')).toEqual([]);
      expect(await historyBytes(stage, result.id)).toBeLessThan(MAX_HISTORY_BYTES);
    });
  },
);

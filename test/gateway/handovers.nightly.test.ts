import type { Store } from '../../src';
import { Pulse } from '../../src/gateway/pulse';
import { forgetHandovers, type Handover, Handovers } from '../../src/gateway/solve/handovers';
import { ASKED_RUNS } from '../../src/store/asked-runs';
import { ENCRYPTED_STORES, STORES } from '../support/stores';
import { useOnce } from '../support/use';

const MINUTE = 1 / 60;

describe.each([...STORES, ...ENCRYPTED_STORES])(
  'answers on their way, in a store of kind %s',
  (_, startStores) => {
    const stores = useOnce(startStores);
    let store: Store;
    beforeEach(async () => (store = await stores.open()));

    let made = 0;
    const newId = (): string => `run-${(made += 1)}`;
    const under = new Set<Handover>();
    const begin = async (handovers: Handovers, digest = 'asked', isRetry = false): Promise<Handover> => {
      const begun = await handovers.begin({ digest, isRetry, newId });
      under.add(begun);
      return begun;
    };
    const end = async (
      state: 'whole' | 'cut' | 'failed' | 'left',
      ...ended: readonly Handover[]
    ): Promise<void> => {
      for (const each of ended) each.end(state);
      for (const each of ended) under.delete(each);
      await Promise.all(gateways.map((each) => each.untilNoted()));
    };

    /** Gateway processes. One is dead for the others if they do not hear its pulse. */
    const gateways: Handovers[] = [];
    const open = (heardIn: Store = store): Handovers => {
      const opened = new Handovers(store, new Pulse(heardIn));
      gateways.push(opened);
      return opened;
    };
    afterEach(() => end('whole', ...under));

    test('a run whose answer broke off goes to the next equal request, and to no other, for a minute', async () => {
      const [one, other] = [open(), open()];
      const [first, second] = [await begin(one), await begin(one)];
      expect([first.isRepeated, second.isRepeated, first.id === second.id]).toEqual([false, false, false]);
      await end('cut', first);
      expect(await begin(one, 'another')).toMatchObject({ isRepeated: false });
      const repeats = await Promise.all([begin(one), begin(one)]);
      const expected = [
        [first.id, true],
        [expect.any(String), false],
      ];
      expect(repeats.map(({ id, isRepeated }) => [id, isRepeated])).toEqual(expect.arrayContaining(expected));
      await end('cut', ...repeats, second);
      await stores.age(2 * MINUTE);
      expect(await begin(one)).toMatchObject({ isRepeated: false });
      expect(await begin(other, 'asked')).toMatchObject({ isRepeated: false });
    });

    test('what was sent whole, or cancelled, is no longer found, but by a client that counts its attempts', async () => {
      const handovers = open();
      const [whole, left] = [await begin(handovers), await begin(handovers, 'left')];
      await end('whole', whole);
      await end('left', left);
      expect(await begin(handovers, 'left', true)).toMatchObject({ isRepeated: false });
      const retry = await begin(handovers, 'asked', true);
      expect(retry).toMatchObject({ id: whole.id, isRepeated: true });
      await end('whole', retry);
      expect(await begin(handovers)).toMatchObject({ isRepeated: false });
    });

    test('a failure goes to all equal requests of the minute after it, however often they fail again', async () => {
      const handovers = open();
      const failed = await begin(handovers);
      await end('failed', failed);
      await stores.age(MINUTE / 2);
      const repeats = [await begin(handovers), await begin(open())];
      for (const repeat of repeats) expect(repeat).toMatchObject({ id: failed.id, isRepeated: true });
      await end('failed', ...repeats);
      await stores.age(MINUTE);
      expect(await begin(handovers)).toMatchObject({ isRepeated: false });
    });

    test('what a dead gateway was sending is found as long as it is noted, and notes are removed when nobody needs them', async () => {
      const dead = open(await stores.open());
      const lost = await begin(dead);
      await end('whole', await begin(dead, 'ended'));
      await stores.age(2);
      await forgetHandovers(store);
      expect(await store.list(ASKED_RUNS)).toHaveLength(1);
      expect(await begin(open())).toMatchObject({ id: lost.id, isRepeated: true });
      await stores.age(25 * 24);
      await forgetHandovers(store);
      expect(await store.list(ASKED_RUNS)).toEqual([]);
    });
  },
);

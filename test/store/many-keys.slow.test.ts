import { ENCRYPTED_STORES, STORES } from '../support/stores';
import { useOnce } from '../support/use';

describe.each([...STORES, ...ENCRYPTED_STORES])('a store of kind %s', (_, startStores) => {
  const stores = useOnce(startStores);

  test('lists more keys than its driver reads at a time, in byte order', async () => {
    const store = await stores.open();
    const keys = Array.from({ length: 1001 }, (__, index) => `many/n${index}`);
    await Promise.all(keys.map((key) => store.write(key, Buffer.from('x'))));
    expect(await store.list('many/')).toEqual([...keys].sort());
  });
});

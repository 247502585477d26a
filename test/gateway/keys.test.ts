import { randomBytes } from 'node:crypto';
import { createKey, isUsable, KeyChecker, listKeys, revokeKey } from '../../src/gateway/access';
import { settingsOf, useStore } from './stage';

const stage = useStore();

afterEach(() => jest.restoreAllMocks());

/** Whole, so that a time after it is exact. */
const BEGUN = Math.floor(performance.now());

/** Stops a checker's clock at a time after the beginning. */
function stopClockAt(milliseconds: number): void {
  jest.spyOn(performance, 'now').mockReturnValue(BEGUN + milliseconds);
}

describe('a key', () => {
  test('is accepted by its secret, of which the store has only a digest', async () => {
    const { key, secret } = await createKey(stage.store, settingsOf({ usdPerDay: 5 }));
    expect(secret).toMatch(new RegExp(`^sk-tc-${key.id}-[\\w-]{43}$`));
    expect(key).toMatchObject({ name: 'ci', usdPerDay: 5, revokedAt: null, isAdmin: false });
    expect(await new KeyChecker(stage.store).check(secret)).toEqual(key);

    const stored = String(await stage.store.read(`gateway/keys/${key.id}.json`));
    expect(stored).toContain(key.digest);
    expect(stored).not.toContain(secret.slice(-43));
  });

  test.each<readonly [string, (secret: string) => string]>([
    ['empty', () => ''],
    ['no secret at all', () => 'sk-tc-../../x-y'],
    ['too long', (secret) => `${secret}x`],
    ['wrong by one letter', (secret) => secret.slice(0, -1) + (secret.endsWith('A') ? 'B' : 'A')],
    ['of a key that is unknown', (secret) => `sk-tc-0000000000${secret.slice(16)}`],
  ])('rejects a secret that is %s', async (_, alter) => {
    const { secret } = await createKey(stage.store, settingsOf());
    expect(await new KeyChecker(stage.store).check(alter(secret))).toBeNull();
  });

  test('is rejected after it has expired', async () => {
    const expiresAt = new Date(Date.now() + 60_000).toISOString();
    const { key, secret } = await createKey(stage.store, settingsOf({ expiresAt }));
    const checker = new KeyChecker(stage.store);
    expect(await checker.check(secret)).toEqual(key);
    expect(isUsable(key)).toBe(true);
    jest.spyOn(Date, 'now').mockReturnValue(Date.parse(expiresAt));
    expect(await checker.check(secret)).toBeNull();
    expect(isUsable(key)).toBe(false);
  });

  test('is rejected 5 s after another process revoked it', async () => {
    const { key, secret } = await createKey(stage.store, settingsOf());
    const checker = new KeyChecker(stage.store);
    stopClockAt(0);
    await checker.check(secret);
    expect((await revokeKey(stage.again(), key.id)).revokedAt).not.toBeNull();
    stopClockAt(5_000);
    expect(await checker.check(secret)).toBeNull();
  });

  test('is reported as altered if its record was changed in the store', async () => {
    const { key, secret } = await createKey(stage.store, settingsOf());
    await stage.store.write(`gateway/keys/${key.id}.json`, Buffer.from('{"name": "x"}'));
    await expect(new KeyChecker(stage.store).check(secret)).rejects.toThrow(
      /gateway\/keys\/.*cannot be read.*was altered/,
    );
  });
});

describe('a checker', () => {
  test('reads a key once in 5 s, however many requests come at once', async () => {
    const { key, secret } = await createKey(stage.store, settingsOf());
    const read = jest.spyOn(stage.store, 'read');
    const checker = new KeyChecker(stage.store);
    stopClockAt(0);
    const checks = Array.from({ length: 50 }, () => checker.check(secret));
    expect(await Promise.all(checks)).toEqual(Array.from({ length: 50 }, () => key));
    stopClockAt(4_000);
    await checker.check(`${secret.slice(0, -4)}AAAA`);
    expect(read).toHaveBeenCalledTimes(1);
    stopClockAt(9_000);
    await checker.check(secret);
    expect(read).toHaveBeenCalledTimes(2);
  });

  test('remembers nothing of invented secrets', async () => {
    const { secret } = await createKey(stage.store, settingsOf());
    const checker = new KeyChecker(stage.store);
    const guesses = Array.from(
      { length: 300 },
      () => `sk-tc-${randomBytes(5).toString('hex')}-${'A'.repeat(43)}`,
    );
    await Promise.all([secret, ...guesses].map((each) => checker.check(each)));
    expect(checker).toHaveProperty('keys.known.size', 1);
  });

  test('asks the store again after a failure', async () => {
    const { key, secret } = await createKey(stage.store, settingsOf());
    jest.spyOn(stage.store, 'read').mockRejectedValueOnce(new Error('the disk is away'));
    const checker = new KeyChecker(stage.store);
    await expect(checker.check(secret)).rejects.toThrow('the disk is away');
    expect(await checker.check(secret)).toEqual(key);
  });
});

describe('names of keys', () => {
  test('are taken until the key is revoked', async () => {
    const { key: first } = await createKey(stage.store, settingsOf());
    await expect(createKey(stage.store, settingsOf())).rejects.toMatchObject({
      code: 'Usage',
      message: expect.stringContaining(`"ci" already (${first.id})`) as unknown,
    });
    const revoked = await revokeKey(stage.store, 'ci');
    const { key: second } = await createKey(stage.store, settingsOf());
    expect(revoked.id).toBe(first.id);
    // The name now belongs to the second key.
    expect(await revokeKey(stage.store, 'ci')).toMatchObject({ id: second.id });
  });

  test('are listed by the age of their keys', async () => {
    const years = [2108, 2107, 2106, 2105, 2104, 2103];
    for (const year of years) {
      jest.spyOn(Date.prototype, 'toISOString').mockReturnValueOnce(`${year}-01-01T00:00:00.000Z`);
      await createKey(stage.store, settingsOf({ name: String(year) }));
    }
    const names = (await listKeys(stage.store)).map(({ name }) => name);
    expect(names).toEqual(years.map(String).reverse());
  });

  test('a revoked key keeps the time of its first revocation', async () => {
    const { key } = await createKey(stage.store, settingsOf());
    const revoked = await revokeKey(stage.store, key.id);
    jest.spyOn(Date.prototype, 'toISOString').mockReturnValue('2100-01-01T00:00:00.000Z');
    expect(await revokeKey(stage.store, key.id)).toEqual(revoked);
  });

  test('an unknown name is answered with the known ones', async () => {
    await expect(revokeKey(stage.store, 'ci')).rejects.toThrow(
      /has no key "ci" to revoke, nor any other: check the name or id/,
    );
    const { key } = await createKey(stage.store, settingsOf());
    await expect(revokeKey(stage.store, 'cd')).rejects.toMatchObject({
      code: 'Usage',
      message: expect.stringContaining(`has no key "cd" to revoke`) as unknown,
    });
    await expect(revokeKey(stage.store, 'cd')).rejects.toThrow(`to revoke, only ci (${key.id})`);
  });

  test('a name that two keys share is answered with their ids', async () => {
    await createKey(stage.store, settingsOf());
    // As in a command that lists the keys before another one has written its own.
    jest.spyOn(stage.store, 'list').mockResolvedValueOnce([]);
    await createKey(stage.store, settingsOf());
    const [first = '', second = ''] = (await listKeys(stage.store)).map(({ id }) => id);
    await expect(revokeKey(stage.store, 'ci')).rejects.toMatchObject({
      code: 'Usage',
      message: `more than one key is named "ci": give one of their ids, ${first}, ${second}`,
    });
  });
});

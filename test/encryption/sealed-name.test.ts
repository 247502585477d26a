import fc from 'fast-check';
import { folderOfPrefix, keyOfName, nameOfKey } from '../../src/encryption/seal';
import { checkStoreKey } from '../../src/store/store';
import { keyRing } from './test-keys';

const keys = keyRing('new', 'old');
const [fresh, old] = [keys.first, keys.find('old', '')];

const digest = fc.stringMatching(/^[0-9a-f]{64}$/);
const word = fc.constantFrom('texts', 'answers', 'ledger', 'ab', '20', '1.json', 'run-7f3a');
const withFan = digest.map((hex) => `${hex.slice(0, 2)}/${hex}`);
const part = fc.oneof(
  word,
  digest,
  withFan,
  withFan.map((path) => `${path}.json`),
);
/** Two hex digits right before a digest that does not begin with them: no key of ours has that, see `nameOfKey`. */
const MISLEADING = /(?:^|\/)(?<fan>[0-9a-f]{2})\/(?!\k<fan>)[0-9a-f]{64}(?:$|[./])/;
const anyKey = fc
  .array(part, { minLength: 1, maxLength: 5 })
  .map((parts) => parts.join('/'))
  .filter((key) => !MISLEADING.test(key));

test('a name leads back to its key, under each encryption key, and is valid for a store', () => {
  fc.assert(
    fc.property(anyKey, fc.constantFrom(fresh, old), (key, encryption) => {
      const name = nameOfKey(key, encryption);
      expect(keyOfName(name, keys)).toBe(key);
      expect(nameOfKey(key, encryption)).toBe(name);
      expect(() => {
        checkStoreKey(name);
      }).not.toThrow();
    }),
  );
});

test('a name reveals no digest, nor the letters of it that shard a folder', () => {
  fc.assert(
    fc.property(digest, (hex) => {
      const [, fan, sealed] = nameOfKey(`texts/${hex.slice(0, 2)}/${hex}`, fresh).split('/');
      expect(sealed).toMatch(/^new\.[0-9a-f]{96}$/);
      expect(sealed).not.toContain(hex);
      expect(sealed?.startsWith(`new.${String(fan)}`)).toBe(true);
    }),
  );
});

test('every key lies in the folder of each of its prefixes', () => {
  fc.assert(
    fc.property(anyKey, fc.constantFrom(fresh, old), fc.nat(), (key, encryption, at) => {
      const parts = key.split('/');
      const prefix = parts
        .slice(0, at % parts.length)
        .map((each) => `${each}/`)
        .join('');
      expect(nameOfKey(key, encryption).startsWith(folderOfPrefix(prefix, encryption))).toBe(true);
    }),
  );
});

test('an altered or unencrypted name is not recognized, and a name under a lost key says so', () => {
  const name = nameOfKey(`texts/${'ab'.repeat(33).slice(2)}`, fresh);
  const last = name.endsWith('0') ? '1' : '0';
  expect(keyOfName(name.slice(0, -1) + last, keys)).toBeNull();
  expect(keyOfName(`texts/${'ab'.repeat(32)}`, keys)).toBeNull();
  expect(() => keyOfName(name, keyRing('other'))).toThrow(
    /encrypted with key "new", which TEST_KEYS does not hold/,
  );
});

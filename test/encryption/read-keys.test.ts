import { inspect } from 'node:util';
import { ConfigError } from '../../src/config/errors';
import { readEncryptionKeys } from '../../src/encryption/key-ring';
import { keyRing, KEYS_VARIABLE, keysText, secretOf } from './test-keys';

function read(text: string | undefined): unknown {
  return readEncryptionKeys(KEYS_VARIABLE, { [KEYS_VARIABLE]: text });
}

test('the first key encrypts, and every key is found by its id', () => {
  const keys = keyRing('new', 'old');
  expect(keys.first.id).toBe('new');
  expect(keys.all.map(({ id }) => id)).toEqual(['new', 'old']);
  expect(keys.find('old', 'a payload').id).toBe('old');
  expect(() => keys.find('lost', 'a payload')).toThrow(
    'a payload was encrypted with key "lost", which TEST_KEYS does not hold (it holds new, old): ' +
      'add that key after the first one',
  );
});

test('spaces around entries and base64url are accepted', () => {
  const secret = Buffer.alloc(32, 0xfb);
  const text = ` a:${secret.toString('base64')} , b:${secret.toString('base64url')} `;
  expect(readEncryptionKeys(KEYS_VARIABLE, { [KEYS_VARIABLE]: text }).all).toHaveLength(2);
});

test.each([
  ['no variable', undefined, /TEST_KEYS, which is not set in this process: set it to "id:key"/],
  ['nothing in it', '  ', /TEST_KEYS, which is not set/],
  ['a key without an id', secretOf('a'), /entry 1 of TEST_KEYS is not "id:key"/],
  ['a key in the place of an id', `${secretOf('a')}:x`, /entry 1 of TEST_KEYS is not/],
  ['what is no base64', `${keysText('a')},b:not-base-64!`, /entry 2 of TEST_KEYS is not/],
  ['a short key', 'a:c2hvcnQ=', /entry 1 of TEST_KEYS is not .* a key is 32 random bytes/],
  ['a long key', `a:${Buffer.alloc(33).toString('base64')}`, /entry 1 of TEST_KEYS is not/],
  ['an entry too many', `${keysText('a')},`, /entry 2 of TEST_KEYS is not/],
  ['one id for two keys', keysText('a', 'b', 'a'), /TEST_KEYS holds two keys named "a"/],
])('%s is refused, with the variable and without the key', (_, text, sentence) => {
  expect(() => read(text)).toThrow(ConfigError);
  expect(() => read(text)).toThrow(sentence);
  const secrets = ['a', 'b'].map(secretOf).concat('not-base-64', 'c2hvcnQ');
  for (const secret of secrets) expect(() => read(text)).not.toThrow(secret);
});

test('a logged key ring reveals no secret', () => {
  const shown = inspect(keyRing('a'), { depth: null, showHidden: true }) + JSON.stringify(keyRing('a'));
  expect(shown).not.toContain(secretOf('a'));
  expect(shown).not.toContain('a secret of key a');
  expect(shown).not.toContain('Buffer');
});

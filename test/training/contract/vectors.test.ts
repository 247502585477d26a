import { encode as toUtf8 } from '@temporalio/common/lib/encoding';
import { encryptionCodec } from '../../../src/encryption/codec';
import { readEncryptionKeys } from '../../../src/encryption/key-ring';
import { nameOfKey, openContent, sealContent } from '../../../src/encryption/seal';
import vectors from '../vectors.json';

// Test vectors encrypted in both languages; `trainer/tests/test_encryption.py` reads the same file.
const keys = readEncryptionKeys('KEYS', { KEYS: vectors.keys });

test.each(vectors.objects)('$storeKey is stored in the unchanged format, under key $key', (vector) => {
  const { storeKey, name, plain } = vector;
  const key = keys.find(vector.key, 'the vector');
  const sealed = Buffer.from(vector.sealed, 'base64');
  expect(nameOfKey(storeKey, key)).toBe(name);
  expect(sealContent(Buffer.from(plain), storeKey, key)).toEqual(sealed);
  expect(openContent(sealed, storeKey, keys).toString()).toBe(plain);
});

test.each(vectors.payloads)(
  'a payload encrypted by $by under key $key for $boundTo can be read',
  async ({ key, data, boundTo }) => {
    const metadata = {
      encoding: toUtf8('binary/encrypted'),
      'encryption-key-id': toUtf8(key),
      ...(boundTo !== undefined && { 'encryption-bound-to': toUtf8(boundTo) }),
    };
    const [payload] = await encryptionCodec(keys).decode([{ metadata, data: Buffer.from(data, 'base64') }]);
    expect(Buffer.from(payload?.data ?? []).toString()).toBe(vectors.plain.data);
    expect(Buffer.from(payload?.metadata?.encoding ?? []).toString()).toBe(vectors.plain.metadata.encoding);
  },
);

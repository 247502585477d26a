import { defaultPayloadConverter, type Payload } from '@temporalio/common';
import { encode as toUtf8 } from '@temporalio/common/lib/encoding';
import fc from 'fast-check';
import { encryptionCodec } from '../../src/encryption/codec';
import { keyRing } from './test-keys';

const codec = encryptionCodec(keyRing('a'));

const anyBytes = fc.uint8Array({ maxLength: 200 });
const anyPayload: fc.Arbitrary<Payload> = fc.record(
  {
    metadata: fc.dictionary(
      fc.string().filter((name) => name !== '__proto__'),
      anyBytes,
      { maxKeys: 4 },
    ),
    data: anyBytes,
  },
  { requiredKeys: ['metadata'] },
);

/** Returns a payload as values that compare by content, whatever class holds their bytes. */
function plainOf({ metadata, data }: Payload): unknown {
  const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
  const words = Object.entries(metadata ?? {}).map(([name, bytes]) => [name, hex(bytes)]);
  return { metadata: words.sort(), data: data ? hex(data) : null };
}

function wordOf({ metadata }: Payload, name: string): string {
  return Buffer.from(metadata?.[name] ?? []).toString();
}

async function encrypted(payload: Payload): Promise<Payload & { data: Uint8Array }> {
  const [{ data, ...rest } = {}] = await codec.encode([payload]);
  return { ...rest, data: data ?? new Uint8Array() };
}

test('every payload comes back unchanged, and in its place', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(anyPayload, { maxLength: 4 }), async (payloads) => {
      const back = await codec.decode(await codec.encode(payloads));
      expect(back.map(plainOf)).toEqual(payloads.map(plainOf));
    }),
  );
});

test('any flipped bit of the ciphertext, and any cut or addition, is refused', async () => {
  await fc.assert(
    fc.asyncProperty(anyPayload, fc.nat(), fc.nat(7), async (payload, at, bit) => {
      const { data, ...rest } = await encrypted(payload);
      const flipped = Uint8Array.from(data, (byte, index) =>
        index === at % data.length ? byte ^ (1 << bit) : byte,
      );
      const cut = data.subarray(0, at % data.length);
      for (const altered of [flipped, cut, Buffer.concat([data, Buffer.of(0)])]) {
        await expect(codec.decode([{ ...rest, data: altered }])).rejects.toThrow('it was altered on its way');
      }
    }),
  );
});

test('nothing of a value is readable, and equal values never look the same', async () => {
  const payload = defaultPayloadConverter.toPayload('the marked word');
  const [first, second] = await Promise.all([encrypted(payload), encrypted(payload)]);
  expect(wordOf(first, 'encoding')).toBe('binary/encrypted');
  expect(wordOf(first, 'encryption-key-id')).toBe('a');
  expect(Buffer.from(first.data).includes('marked')).toBe(false);
  expect(Buffer.from(first.data).includes('json/plain')).toBe(false);
  expect(Buffer.from(first.data).equals(second.data)).toBe(false);
});

test('after a change of keys, old keys still decrypt, and the new one encrypts', async () => {
  const payload = defaultPayloadConverter.toPayload('kept');
  const old = await encrypted(payload);
  const rotated = encryptionCodec(keyRing('b', 'a'));
  const [back, fresh] = [await rotated.decode([old]), await rotated.encode([payload])];
  expect(back.map(plainOf)).toEqual([plainOf(payload)]);
  expect(wordOf(fresh[0] ?? {}, 'encryption-key-id')).toBe('b');
});

test('a missing key is named, and so is an id that stands for another key', async () => {
  const old = await encrypted(defaultPayloadConverter.toPayload('kept'));
  await expect(encryptionCodec(keyRing('b')).decode([old])).rejects.toThrow(
    'a payload was encrypted with key "a", which TEST_KEYS does not hold (it holds b)',
  );
  const mistaken = { ...old, metadata: { ...old.metadata, 'encryption-key-id': toUtf8('b') } };
  await expect(encryptionCodec(keyRing('b')).decode([mistaken])).rejects.toThrow('two different keys');
});

test('unencrypted payloads pass through', async () => {
  const payload = defaultPayloadConverter.toPayload({ from: 'an earlier run' });
  expect(await codec.decode([payload])).toEqual([payload]);
});

test('strict mode refuses unencrypted payloads, whatever they look like, and nothing else', async () => {
  const strict = encryptionCodec(keyRing('a'), { strict: true });
  await fc.assert(
    fc.asyncProperty(anyPayload, async (payload) => {
      await expect(strict.decode([payload])).rejects.toThrow(
        'a payload is not encrypted, and this process accepts only encrypted ones (encryption.strict)',
      );
      const back = await strict.decode(await codec.encode([payload]));
      expect(back.map(plainOf)).toEqual([plainOf(payload)]);
    }),
  );
});

describe('strict mode accepts only what was encrypted for its workflow', () => {
  const strict = encryptionCodec(keyRing('a'), { strict: true });
  const payload = defaultPayloadConverter.toPayload('bound');
  const contextOf = (workflowId: string) => ({ type: 'workflow', namespace: 'default', workflowId }) as const;

  test('or for its activities, and nothing of another workflow', async () => {
    const bound = await codec.encode([payload], contextOf('one'));
    const activity = { type: 'activity', namespace: 'default', isLocal: false } as const;
    expect(await strict.decode(bound, { ...activity, workflowId: 'one' })).toMatchObject([{}]);
    for (const reader of [contextOf('two'), { ...activity, workflowId: 'two' }])
      await expect(strict.decode(bound, reader)).rejects.toThrow('encrypted for "default/one"');
    const elsewhere = strict.decode(bound, { ...contextOf('one'), namespace: 'other' });
    await expect(elsewhere).rejects.toThrow('was sent to "other/one"');
    const unbound = strict.decode(await codec.encode([payload]), contextOf('one'));
    await expect(unbound).rejects.toThrow('encrypted for no workflow');
  });

  test('even if a payload is relabelled', async () => {
    const [bound] = await codec.encode([payload], contextOf('one'));
    const renamed = { ...bound?.metadata, 'encryption-bound-to': toUtf8('default/two') };
    await expect(strict.decode([{ ...bound, metadata: renamed }], contextOf('two'))).rejects.toThrow(
      'it was altered on its way',
    );
  });

  test('or, as for a page, if no workflow is known', async () => {
    expect(await strict.decode(await codec.encode([payload], contextOf('one')))).toHaveLength(1);
  });

  test.each([
    ['nightly-shift', true],
    ['scheduled-question', true],
    ['solve-question', false],
  ])('or for the id %p with the time that a schedule appends: %p', async (id, isTaken) => {
    const sealed = await codec.encode([payload], contextOf(id));
    const read = strict.decode(sealed, contextOf(`${id}-2026-11-23T02:00:00Z`));
    await (isTaken ? expect(read).resolves.toHaveLength(1) : expect(read).rejects.toThrow('was sent to'));
  });
});

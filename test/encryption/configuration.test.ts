import { Client } from '@temporalio/client';
import type { DataConverter, PayloadCodec } from '@temporalio/common';
import { Worker } from '@temporalio/worker';
import {
  ConductorClient,
  ConductorPlugin,
  ConfigError,
  type ConfigInput,
  encryptionCodec,
  encryptionConverter,
  openStore,
} from '../../src';
import { parseConfig } from '../../src/config/load';
import { configuredKeys } from '../../src/encryption/key-ring';
import { EncryptedStore } from '../../src/store/encrypted-store';
import { connect, testTaskQueue, type TestTemporal, workflowBundle } from '../support/temporal';
import { keyRing, KEYS_VARIABLE, keysText, secretOf } from './test-keys';

const keys = keyRing('a');
const local = { provider: 'local', model: 'smollm2' } as const;
const CONFIG: ConfigInput = {
  conductor: local,
  workers: [{ id: 'small', ...local }],
  encryption: { keyEnv: KEYS_VARIABLE },
};

test('a configuration names a variable, from which the keys are read', () => {
  const env = { [KEYS_VARIABLE]: keysText('b', 'a') };
  expect(configuredKeys(parseConfig(CONFIG), env)?.first.id).toBe('b');
  expect(configuredKeys(parseConfig({ conductor: local, workers: CONFIG.workers }), env)).toBeUndefined();
  expect(() => configuredKeys(parseConfig(CONFIG), {})).toThrow(
    /TEST_KEYS, which is not set in this process/,
  );
});

test("a key in place of the variable's name is refused and not repeated", () => {
  const config = { ...CONFIG, encryption: { keyEnv: secretOf('a') } };
  expect(() => parseConfig(config)).toThrow(
    /encryption\.keyEnv cannot be used: .* a key itself never belongs/,
  );
  expect(() => parseConfig(config)).not.toThrow(secretOf('a'));
});

test('a store is encrypted if it is opened with keys', () => {
  expect(openStore('sqlite:store.db', '/nowhere', { keys })).toBeInstanceOf(EncryptedStore);
  expect(openStore('sqlite:store.db', '/nowhere')).not.toBeInstanceOf(EncryptedStore);
});

describe("the user's own worker process", () => {
  let temporal: TestTemporal;
  beforeAll(async () => {
    temporal = await connect();
    process.env[KEYS_VARIABLE] = keysText('a');
  });
  afterAll(() => temporal.close());

  const create = (dataConverter?: DataConverter, more: object = {}): Promise<Worker> =>
    Worker.create({
      connection: temporal.nativeConnection,
      taskQueue: testTaskQueue(),
      workflowBundle: workflowBundle(),
      plugins: [
        new ConductorPlugin({ config: { ...CONFIG, encryption: { keyEnv: KEYS_VARIABLE, ...more } } }),
      ],
      dataConverter,
    });
  /** A foreign codec, which encrypts nothing. */
  const theirs: PayloadCodec = {
    encode: (payloads) => Promise.resolve(payloads),
    decode: (payloads) => Promise.resolve(payloads),
  };
  const withTheirs = { ...encryptionConverter(keys), payloadCodecs: [theirs] };

  const lax =
    /has a codec that accepts unencrypted payloads: .*encryptionConverter\(keys, \{ strict: true \}\)/;
  test.each([
    ['no data converter', undefined, {}, /no payload codec and no failure converter/],
    [
      'no failure converter',
      { payloadCodecs: [encryptionCodec(keys)] },
      {},
      /has no failure converter: create/,
    ],
    ['no codec', { ...encryptionConverter(keys), payloadCodecs: [] }, {}, /has no payload codec: create/],
    ['a codec of another make', withTheirs, {}, /has a custom payload codec \(.*codec: own.*\): create/],
    ['a converter that is not strict', encryptionConverter(keys), { strict: true }, lax],
  ])(
    'with %s is refused if the configuration requires encryption',
    async (_, dataConverter, more, sentence) => {
      const refused = create(dataConverter, more);
      await expect(refused).rejects.toThrow(ConfigError);
      await expect(refused).rejects.toThrow(sentence);
    },
  );

  test('has clients that are refused in the same way if they read the configuration', () => {
    const { connection } = temporal.client;
    expect(() => new ConductorClient({ client: new Client({ connection }), config: CONFIG })).toThrow(
      /asks for "encryption", but the data converter has no payload codec and no failure converter/,
    );
    const dataConverter = encryptionConverter(keys);
    const client = new Client({ connection, dataConverter });
    expect(new ConductorClient({ client, config: CONFIG })).toBeInstanceOf(ConductorClient);
  });

  test.each([
    ['the converter beside the plugin', encryptionConverter(keys), {}],
    ['a strict one', encryptionConverter(keys, { strict: true }), { strict: true }],
    ['ours behind another codec', { ...withTheirs, payloadCodecs: [theirs, encryptionCodec(keys)] }, {}],
    ['a codec of another make, which the configuration waives', withTheirs, { codec: 'own' }],
  ])('with %s works', async (_, dataConverter, encryption) => {
    const worker = await create(dataConverter, encryption);
    await worker.runUntil(Promise.resolve());
  });
});

import type { DataConverter } from '@temporalio/common';
import { encryptionCodec } from './encryption-codec';
import type { KeyRing } from './key-ring';

/**
 * Module of the failure converter that puts messages and stack traces where a codec reaches them; left to themselves
 * they travel in the clear. A bundle of workflows must be built with it: `bundleWorkflowCode({ failureConverterPath })`.
 */
export const failureConverterPath = require.resolve('../workflows/encoded-failures');

/**
 * A data converter that encrypts, for `Client`, `Worker` and whatever else takes one.
 *
 * The plugin leaves a worker's data converter alone, so whoever mounts the plugin mounts this beside it. With a
 * converter of your own, take its parts: `encryptionCodec` as the last of your codecs, and `failureConverterPath`.
 *
 * @example
 * const keys = readEncryptionKeys('CONDUCTOR_KEYS');
 * const dataConverter = encryptionConverter(keys);
 * const client = new Client({ connection, dataConverter });
 * const worker = await Worker.create({ ...options, dataConverter, plugins: [new ConductorPlugin({ config })] });
 * const store = openStore('file:.conductor/store', process.cwd(), { keys });
 * const conductor = new ConductorClient({ client, store });
 */
export function encryptionConverter(
  keys: KeyRing,
): Required<Pick<DataConverter, 'payloadCodecs' | 'failureConverterPath'>> {
  return { payloadCodecs: [encryptionCodec(keys)], failureConverterPath };
}

import type { DataConverter } from '@temporalio/common';
import { ConfigError } from '../pool/config-error';

/**
 * Refuses a worker that would send in the clear what its configuration wants encrypted. Any codec will do, since which
 * one is the user's choice.
 *
 * @throws ConfigError that says what to mount
 */
export function checkEncrypted(dataConverter: DataConverter | undefined): void {
  const { payloadCodecs = [], failureConverterPath } = dataConverter ?? {};
  const missing = [
    ...(payloadCodecs.length === 0 ? ['no payload codec'] : []),
    ...(failureConverterPath === undefined ? ['no failure converter'] : []),
  ];
  if (missing.length === 0) return;
  throw new ConfigError(
    `the configuration asks for "encryption", and this worker's data converter has ${missing.join(' and ')}: create ` +
      'worker and clients with dataConverter: encryptionConverter(keys), or take "encryption" out of the configuration',
  );
}

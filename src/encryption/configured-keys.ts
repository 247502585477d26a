import type { Config } from '../pool/config-schema';
import type { KeyRing } from './key-ring';
import { readEncryptionKeys } from './read-keys';

/**
 * The keys that a configuration asks to encrypt with; undefined for one that does not.
 *
 * @throws ConfigError where the variable it names holds none
 */
export function configuredKeys(
  { encryption }: Pick<Config, 'encryption'>,
  env: NodeJS.ProcessEnv = process.env,
): KeyRing | undefined {
  return encryption && readEncryptionKeys(encryption.keyEnv, env);
}

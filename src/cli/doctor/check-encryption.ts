import { configuredKeys } from '../../encryption/configured-keys';
import { reasonOf } from '../../local/reason-of';
import type { Config } from '../../pool/config-schema';
import { broken, fine, type Finding } from './finding';

/** Whether the keys are there that the configuration asks to encrypt with; nothing where it asks for none. */
export function checkEncryption(config: Config): Finding[] {
  try {
    const keys = configuredKeys(config);
    if (keys === undefined) return [];
    const [first, ...others] = keys.all.map(({ id }) => id);
    const readable = others.length === 0 ? '' : `; what ${others.join(', ')} encrypted can be read`;
    return [fine('Encryption', `with key ${String(first)}${readable}`)];
  } catch (error) {
    return [broken('Encryption', reasonOf(error))];
  }
}

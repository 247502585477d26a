import { createHash } from 'node:crypto';

/**
 * A number in [0, 1) that depends on its arguments alone, evenly spread: the first 48 bits of their SHA-256.
 *
 * A generator with a state would give each request another number whenever requests that run side by side arrive
 * in another order; this does not.
 */
export function draw(...key: readonly (string | number)[]): number {
  const digest = createHash('sha256').update(JSON.stringify(key)).digest();
  return digest.readUIntBE(0, 6) / 2 ** 48;
}

import { hash } from 'node:crypto';

/** Most characters that every vendor takes. */
const MOST = 64;

/** Returns the name under which models are offered a tool of a server: `<entry>__<tool>`, made safe. */
export function offeredName(entry: string, tool: string): string {
  return safeName(`${entry}__${tool}`);
}

/**
 * Returns a name that every vendor takes. One with other characters, or more of them, ends in a hash of the whole, so
 * that two tools never get one name by being cut.
 */
export function safeName(whole: string): string {
  const plain = whole.replace(/[^A-Za-z0-9_-]/g, '_');
  if (plain === whole && whole.length <= MOST) return whole;
  const digest = hash('sha256', whole).slice(0, 8);
  return `${plain.slice(0, MOST - digest.length - 1)}_${digest}`;
}

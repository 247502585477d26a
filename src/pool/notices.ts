import type { Config } from './config-schema';

/** What a configuration asks for and this version reads without acting on it: one sentence each. */
export function noticesOf({ training }: Config): string[] {
  return training === undefined
    ? []
    : ['training is read but not yet used: this version cannot train a Conductor.'];
}

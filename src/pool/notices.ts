import type { Config } from './config-schema';

/** What a configuration asks for and this version reads without acting on it: one sentence each. */
export function noticesOf({ limits, training }: Config): string[] {
  const idle = {
    'limits.costUsd': limits.costUsd,
    'limits.calls': limits.calls,
  };
  const unenforced = Object.entries(idle)
    .filter(([, value]) => value !== undefined)
    .map(([name]) => `${name} is read but not yet enforced: costs and calls are counted, and stop no run.`);
  return training === undefined
    ? unenforced
    : [...unenforced, 'training is read but not yet used: this version cannot train a Conductor.'];
}

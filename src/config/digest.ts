import { hash } from 'node:crypto';
import type { ConfigDigest } from '../protocol/activity-contract';
import type { Config } from './schema';

/** Settings in which two processes may differ: how a run is found, what commands adapt to a server, and what gateways do. */
const OF_THE_PLACE = [
  'temporal.taskQueue',
  'temporal.namespace',
  'temporal.heartbeat',
  'temporal.searchAttributes',
  'gateway',
  'telemetry',
];

/** Returns hashes that tell versions of a configuration apart and are the same on every machine. */
export function digestOf(config: Config): ConfigDigest {
  const parts = Object.entries(partsOf(config)).filter(([name]) => !OF_THE_PLACE.includes(name));
  return Object.fromEntries(parts);
}

export function solvingDigestOf(config: Config): ConfigDigest {
  return digestOf({ ...config, training: undefined });
}

/** Names the settings in which two versions differ, e.g. `limits.costUsd`, `workers.beta`. */
export function differencesOf(one: ConfigDigest, other: ConfigDigest): string[] {
  const names = [...new Set([...Object.keys(one), ...Object.keys(other)])];
  const different = names.filter((name) => one[name] !== other[name]);
  // Omits `workers` itself if one of the workers is named.
  return different.filter((name) => !different.some((each) => each.startsWith(`${name}.`)));
}

/** Returns a short hash of each setting that people would name, and of the workers' order (their ordinals). */
function partsOf(config: Config): Record<string, string> {
  const parts = Object.entries(config).flatMap(([name, section]): [string, unknown][] => {
    if (!OPENED.includes(name)) return [[name, section]];
    return Object.entries(section ?? {}).map(([key, value]) => [`${name}.${key}`, value]);
  });
  const workers = config.workers.map((worker): [string, unknown] => [`workers.${worker.id}`, worker]);
  const order: [string, unknown] = ['workers', config.workers.map(({ id }) => id)];
  const all = parts.flatMap((part) => (part[0] === 'workers' ? [order, ...workers] : [part]));
  const written = all.filter(([, value]) => value !== undefined);
  const hashOf = (value: unknown) => hash('sha256', JSON.stringify(value));
  return Object.fromEntries(written.map(([name, value]) => [name, hashOf(value).slice(0, 8)]));
}

const OPENED = ['conductors', 'limits', 'temporal', 'training'];

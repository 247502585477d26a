import { type Command, InvalidArgumentError } from 'commander';
import { durationMs, durationSchema } from '../config/settings';
import { MAX_CALLS, MAX_COST_USD } from '../protocol/messages';
import type { ExitCode } from './exit-code';

/** Takes what a command's exit code is to be. */
export type Settle = (code: ExitCode) => void;

/**
 * Adds a command to the program, or a few that are one idea.
 *
 * A file in `commands/` exports one such function, with the options; what the command does stands below it. `main.ts`
 * loads the file of the command that is called and no other, so its imports are plain ones; only what a single case
 * needs and takes long to load (a worker, an SDK, a library that draws) is imported where that case comes up.
 */
export type AddCommands = (program: Command, settle: Settle) => void;

// How arguments are read. Each throws commander's InvalidArgumentError, which says what was expected.

export function readInteger(value: string): number {
  if (/^-?\d{1,15}$/.test(value)) return Number(value);
  throw new InvalidArgumentError('Expected a whole number.');
}

/** A whole number from 1. */
export function readCount(value: string): number {
  const count = readInteger(value);
  if (count >= 1) return count;
  throw new InvalidArgumentError('Expected a whole number from 1.');
}

/** A whole number from 0. */
export function readWhole(value: string): number {
  const count = readInteger(value);
  if (count >= 0) return count;
  throw new InvalidArgumentError('Expected a whole number from 0.');
}

/** A number above 0, also as 1e-5. */
export function readAmount(value: string): number {
  const amount = Number(value);
  if (/^(?:\d{1,15}|\d{0,15}\.\d{1,15})(?:e-?\d{1,3})?$/i.test(value) && amount > 0 && Number.isFinite(amount)) return amount;
  throw new InvalidArgumentError('Expected a number above 0, e.g. 1e-5.');
}

/** Calls of a run: from 1 to as many as its result can hold. */
export function readCalls(value: string): number {
  const count = readInteger(value);
  if (count >= 1 && count <= MAX_CALLS) return count;
  throw new InvalidArgumentError(`Expected a whole number from 1 to ${MAX_CALLS}.`);
}

/** null for `none`: no limit. */
export function readDepth(value: string): number | null {
  if (value === 'none') return null;
  if (/^\d{1,15}$/.test(value)) return Number(value);
  throw new InvalidArgumentError('Expected a whole number from 0, or none for no limit.');
}

/** null for `none`: no limit. */
export function readTokens(value: string): number | null {
  return value === 'none' ? null : readCount(value);
}

/** An amount in USD; null for `none`: no limit. */
export function readUsd(value: string): number | null {
  if (value === 'none') return null;
  const amount = Number(value);
  if (/^\d{1,7}(\.\d{1,9})?$/.test(value) && amount <= MAX_COST_USD) return amount;
  throw new InvalidArgumentError(
    `Expected an amount in USD up to ${MAX_COST_USD}, e.g. 0.50, or none for no limit.`,
  );
}

/** In milliseconds. */
export function readDuration(value: string): number {
  const { success, data } = durationSchema.safeParse(value);
  if (success) return durationMs(data);
  throw new InvalidArgumentError('Expected a duration from 1s to 24d, e.g. 90s, 30m or 2h.');
}

/** Up to a week of them. */
export function readHours(value: string): number {
  const hours = Number(value);
  if (/^\d{1,3}(\.\d{1,2})?$/.test(value) && hours <= 168) return hours;
  throw new InvalidArgumentError('Expected a number of hours up to 168, e.g. 6 or 0.5.');
}

/** In milliseconds. */
export function readDays(value: string): number {
  const days = Number(/^(\d{1,5})d$/.exec(value)?.[1] ?? 0);
  if (days >= 1) return days * 24 * 60 * 60 * 1000;
  throw new InvalidArgumentError('Expected a number of days from 1d, e.g. 30d.');
}

export function readIds(value: string, before: readonly string[] = []): string[] {
  const ids = value.split(',').map((id) => id.trim());
  if (ids.every((id) => id !== '')) return [...before, ...ids];
  throw new InvalidArgumentError('Expected ids of workers, separated by commas.');
}

/** Temporal's, from 1 (first) to 5 (last). */
export function readPriority(value: string): number {
  if (/^[1-5]$/.test(value)) return Number(value);
  throw new InvalidArgumentError('Expected a number from 1 (first) to 5 (last); runs without one have 3.');
}

/** As long as Temporal's fairness key may be. */
export function readTenant(value: string): string {
  const bytes = Buffer.byteLength(value);
  if (bytes >= 1 && bytes <= 64) return value;
  throw new InvalidArgumentError('Expected a name of 1 to 64 bytes.');
}

export function readOrigin(value: string, before: readonly string[] = []): string[] {
  const isOrigin = URL.canParse(value) && new URL(value).origin === value;
  if (isOrigin) return [...before, value];
  throw new InvalidArgumentError('Expected an origin as browsers send it, e.g. http://127.0.0.1:8233.');
}

export function readPort(value: string): number {
  const port = Number(value);
  if (/^\d{1,5}$/.test(value) && port <= 65535) return port;
  throw new InvalidArgumentError('Expected a port number, from 0 (any that is free) to 65535.');
}

/** The option that every command takes. */
export const CONFIG = [
  '--config <file>',
  'configuration (default: $CONDUCTOR_CONFIG, then conductor.yaml)',
] as const;

/** The option that every command about training takes. */
export const RUN = ['--run <name>', 'training run (default: the one that the configuration names)'] as const;

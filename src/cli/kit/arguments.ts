import { isIPv4, isIPv6 } from 'node:net';
import { type Command, type CommandOptions, InvalidArgumentError, Option } from 'commander';
import { DAY_MS, durationMs, isDuration } from '../../config/duration';
import { A_COST, MAX_CALLS, MAX_COST_USD, MAX_STEPS } from '../../protocol/messages';
import { CRITERIA, type RunCriteria } from '../../protocol/search-attributes';
import type { ExitCode } from './ending';
import { LOG_FORMS } from './log-form';
import { VERSIONINGS } from './worker-version';

type Actions<Name extends string> = Readonly<Record<Name, (...args: never[]) => Promise<ExitCode>>>;

/** Makes an action whose module is loaded only when its command is called; its exit code becomes the process's. */
export function run<Name extends string>(load: () => Promise<Actions<Name>>, name: Name) {
  return async (...args: unknown[]): Promise<void> => {
    const { [name]: action } = await load();
    process.exitCode = await action(...(args as never[]));
  };
}

type Add = (usage: string, description: string, options?: CommandOptions) => Command;

/** Makes functions that add a command below another one; a command of `add` may open the store or make calls. */
export function addersTo(parent: Command): { readonly add: Add; readonly addOffline: Add } {
  const addOffline: Add = (usage, description, options) =>
    parent
      .command(usage, options)
      .description(description)
      .option('--config <file>', 'configuration (default: $CONDUCTOR_CONFIG, then conductor.yaml)');
  const add: Add = (...named) => addOffline(...named).option('--trust', TRUST);
  return { add, addOffline };
}

/** Options of the commands that serve. */
export const METRICS_OPTION = [
  '--metrics <[host:]port>',
  "answer Prometheus there with the worker's metrics (default host: 127.0.0.1)",
] as const;
export const VERSIONING_OPTION = new Option(
  '--versioning <behavior>',
  'runs of a worker with a version stay on it, or follow the current one (default: pinned)',
).choices(VERSIONINGS);
export const LOG_FORMAT_OPTION = new Option('--log-format <format>', 'of each line that is written')
  .choices(LOG_FORMS)
  .default('text');

const TRUST = 'send keys and passwords where the configuration says, and remember that for its folder';

type Read<Value> = (text: string) => Value;

/** Makes a parser for commander that reports what was expected if `find` returns undefined. */
export function reader<Value>(expected: string, find: Read<Value | undefined>): Read<Value> {
  return (text) => {
    const value = find(text);
    if (value !== undefined) return value;
    throw new InvalidArgumentError(`Expected ${expected}.`);
  };
}

/** Accepts `none` for null: no limit. */
function orNone<Value>(one: Read<Value>): Read<Value | null> {
  return (text) => (text === 'none' ? null : one(text));
}

function repeated<Value>(one: Read<readonly Value[]>): (text: string, before?: readonly Value[]) => Value[] {
  return (text, before = []) => [...before, ...one(text)];
}

function number(expected: string, pattern: RegExp, least: number, most: number): Read<number> {
  return reader(expected, (text) => {
    const value = Number(text);
    return pattern.test(text) && value >= least && value <= most ? value : undefined;
  });
}

function whole(least: number, most = Infinity): Read<number> {
  const range = most === Infinity ? `from ${least}` : `from ${least} to ${most}`;
  return number(`a whole number ${range}`, /^\d{1,15}$/, least, most);
}

/** Reads names separated by commas, each of which matches the pattern. */
function list(expected: string, pattern = /\S/): Read<string[]> {
  return reader(expected, (text) => {
    const names = text.split(',').map((name) => name.trim());
    return names.every((name) => pattern.test(name)) ? names : undefined;
  });
}

const criterion = reader(`what runs have, by ${CRITERIA.join(', ')}, e.g. tenant=acme`, (text) => {
  const [name = '', ...value] = text.split('=');
  const known = CRITERIA.find((each) => each === name);
  return known === undefined || value.join('=') === '' ? undefined : { [known]: value.join('=') };
});

const COUNT = whole(1);
const USD = `${A_COST}, e.g. 0.50, or none for no limit`;
const AMOUNT = /^(?:\d{1,15}|\d{0,15}\.\d{1,15})(?:e-?\d{1,3})?$/i;

function isDate(text: string): boolean {
  const time = /^\d{4}-\d{2}-\d{2}$/.test(text) ? Date.parse(text) : NaN;
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text);
}

export const read = {
  integer: number('a whole number', /^-?\d{1,15}$/, -Infinity, Infinity),
  whole: whole(0),
  count: COUNT,
  countTo: (most: number): Read<number> => whole(1, most),
  amount: number('a number above 0, e.g. 1e-5', AMOUNT, 5e-324, 1e308),
  /** Requests of one run, at most as many as its result can hold. */
  calls: whole(1, MAX_CALLS),
  steps: whole(1, MAX_STEPS),
  depth: orNone(number('a whole number from 0, or none for no limit', /^\d{1,15}$/, 0, Infinity)),
  tokens: orNone(COUNT),
  usd: orNone(number(USD, /^\d{1,7}(\.\d{1,9})?$/, 0, MAX_COST_USD)),
  hours: number('a number of hours up to 168, e.g. 6 or 0.5', /^\d{1,3}(\.\d{1,2})?$/, 0, 168),
  priority: number('a number from 1 (first) to 5 (last); runs without one have 3', /^\d$/, 1, 5),
  port: number('a port number, from 0 (any that is free) to 65535', /^\d{1,5}$/, 0, 65535),
  /** In milliseconds. */
  duration: reader('a duration from 1s to 24d, e.g. 90s, 30m or 2h', (text) =>
    isDuration(text) ? durationMs(text) : undefined,
  ),
  /** In milliseconds. */
  days: reader('a number of days from 1d, e.g. 30d', (text) => {
    const days = Number(/^(\d{1,5})d$/.exec(text)?.[1] ?? 0);
    return days >= 1 ? days * DAY_MS : undefined;
  }),
  date: reader('a date, e.g. 2026-01-31', (text) => (isDate(text) ? text : undefined)),
  /** Expiry time in ISO 8601; a date includes the whole day. */
  expiry: reader('a number of days such as 90d, or a last day (UTC), not past, e.g. 2030-12-31', (text) => {
    const days = Number(/^(\d{1,5})d$/.exec(text)?.[1] ?? 0);
    const time = isDate(text) ? Date.parse(text) + DAY_MS - 1 : Date.now() + days * DAY_MS;
    return time > Date.now() ? new Date(time).toISOString() : undefined;
  }),
  ids: repeated(list('ids of workers, separated by commas')),
  names: list('names, separated by commas'),
  /** A * at the end of a name matches any ending. */
  models: list('names of models separated by commas, a * at the end alone, e.g. worker/*', /^[^*]+\*?$|^\*$/),
  name: reader('a name of 1 to 64 bytes', (text) => {
    const bytes = Buffer.byteLength(text);
    return bytes >= 1 && bytes <= 64 ? text : undefined;
  }),
  page: reader('an http:// or https:// address that ends without a slash', (text) =>
    URL.canParse(text) && /^https?:$/.test(new URL(text).protocol) && !text.endsWith('/') ? text : undefined,
  ),
  /** Values that runs have, collected; everything after the first `=` is the value. */
  where: (text: string, before: RunCriteria = {}): RunCriteria => ({ ...before, ...criterion(text) }),
  /** Address to listen on, as `host:port`. */
  address: reader('a port, or an address of this machine with one, e.g. 9464 or 0.0.0.0:9464', (text) => {
    const [, host = '127.0.0.1', port] = /^(?:(.+):)?(\d{1,5})$/.exec(text) ?? [];
    const isPort = Number(port) >= 1 && Number(port) <= 65_535;
    const isHost = isIPv4(host) || (/^\[.+\]$/.test(host) && isIPv6(host.slice(1, -1)));
    return isPort && isHost ? `${host}:${Number(port)}` : undefined;
  }),
  origins: repeated(
    reader('an origin as browsers send it, e.g. http://127.0.0.1:8233', (text) =>
      URL.canParse(text) && new URL(text).origin === text ? [text] : undefined,
    ),
  ),
  parts: repeated(
    reader('a name of a part and its number of questions, e.g. train=960', (text) => {
      const [, name, count] = /^([\w-]{1,64})=(\d{1,9})$/.exec(text) ?? [];
      return name === undefined || Number(count) < 1 ? undefined : [{ name, count: Number(count) }];
    }),
  ),
};

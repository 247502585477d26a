import { z } from 'zod';
import { ConductorError } from '../errors';
import { briefly, showBriefly } from '../plan/plan-error';
import { expectationIn } from './expectation';
import { withoutPassword } from './store-url';

/**
 * Thrown if a configuration, or a choice from it, cannot be used. The message names the file, the place, the value and
 * what was expected, and never contains a key. Retrying does not help; commands exit with 2.
 */
export class ConfigError extends ConductorError {
  override name = 'ConfigError';
  readonly code: string = 'Configuration';
}

/** Thrown if a card's key is not in the environment of the process that needs it. */
export class MissingKeyError extends ConfigError {
  override name = 'MissingKeyError';
  override readonly code = 'MissingKey';
}

const MAX_NAMES = 10;

/** Settings whose value may be a key put there by mistake: messages never repeat it. */
const SECRET_PLACES = new Set(['apiKeyEnv', 'baseUrl', 'keyEnv', 'proxy']);

/** Joins the first `MAX_NAMES` of a list, each as `name` says it, and says how many more there are. */
export function someOf(
  names: readonly string[],
  separator = ', ',
  name: (each: string) => string = (each) => each,
): string {
  const more = names.length - MAX_NAMES;
  const rest = more > 0 ? [`and ${more.toLocaleString('en-US')} more`] : [];
  return [...names.slice(0, MAX_NAMES).map(name), ...rest].join(separator);
}

/** Explains a schema issue in one sentence, e.g. `workers[1].price.input is "cheap": expected number, …`. */
export function explainIssue(
  issue: z.core.$ZodIssue,
  content: unknown,
  settings: readonly string[] = [],
): string {
  const { path } = issue;
  if (issue.code === 'unrecognized_keys') return explainKeys(issue, settings);
  return `${describePath(path)} ${stateOf(path, valueAt(content, path))}: ${expectationOf(issue, content)}`;
}

/**
 * Explains the first issue. A value that is wrong as a whole is not shown: it may be nested too deeply to serialise.
 */
export function explainFirst({ issues: [issue] }: z.ZodError, content: unknown): string {
  if (issue === undefined) return '';
  const isWhole = issue.path.length === 0 && issue.code !== 'unrecognized_keys';
  return isWhole ? expectationIn(issue) : explainIssue(issue, content);
}

/** What a client sent may be as long as a request. */
const MOST_PLACE = 100;
const MOST_EXPECTATION = 500;

/** Explains the first issue of what a client sent. Lists and objects are not shown. @param within what was sent, if not all */
export function explainSent({ issues: [issue] }: z.ZodError, sent: unknown, ...within: string[]): string {
  const path = issue?.path ?? [];
  const place = [...within, ...path].join('.').slice(0, MOST_PLACE) || 'the request';
  const value = valueAt(sent, path);
  const isShown = path.length > 0 && Object(value) !== value;
  const expectation = issue === undefined ? 'is not valid' : expectationIn(issue).slice(0, MOST_EXPECTATION);
  return `${place}${isShown ? ` ${stateOf(path, value)}` : ''}: ${expectation}`;
}

function explainKeys({ path, keys }: z.core.$ZodIssueUnrecognizedKeys, settings: readonly string[]): string {
  const secret = keys.find((key) => /^api[-_]?key$/i.test(key));
  if (secret !== undefined) {
    const place = describePath([...path, secret]);
    return `${place} is not a setting: put the key into an environment variable, and the name of that into apiKeyEnv`;
  }
  const named = someOf(keys, ', ', (key) => {
    const [meant] = closeTo(key, settings);
    return `${describePath([...path, key])}${meant === undefined ? '' : ` (did you mean ${meant}?)`}`;
  });
  return `${named} ${keys.length === 1 ? 'is not a setting' : 'are not settings'}: remove or rename`;
}

/** Returns the names of all settings in a schema, at any depth. */
export function settingNames(schema: z.core.$ZodType): string[] {
  const names = new Set<string>();
  const collect = (part: unknown): void => {
    if (typeof part !== 'object' || part === null) return;
    if ('properties' in part) Object.keys(part.properties ?? {}).forEach((name) => names.add(name));
    Object.values(part).forEach(collect);
  };
  collect(z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }));
  return [...names];
}

function valueAt(content: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce((value, key) => (Object(value) as Record<PropertyKey, unknown>)[key], content);
}

function choicesOf(issue: z.core.$ZodIssue): string[] | undefined {
  if (issue.code === 'invalid_value') return issue.values.map(String);
  const options = issue.code === 'invalid_union' && 'options' in issue ? issue.options : undefined;
  return Array.isArray(options) ? options.map(String) : undefined;
}

function describePath(path: readonly PropertyKey[]): string {
  if (path.length === 0) return 'the configuration';
  const keys = path.map((key) => (typeof key === 'number' ? `[${key}]` : `.${briefly(String(key))}`));
  return keys.join('').replace(/^\./, '');
}

function stateOf(path: readonly PropertyKey[], value: unknown): string {
  if (value === undefined) return 'is missing';
  if (SECRET_PLACES.has(String(path.at(-1)))) return 'cannot be used';
  return `is ${showBriefly(typeof value === 'string' ? withoutPassword(value) : value)}`;
}

function expectationOf(issue: z.core.$ZodIssue, content: unknown): string {
  const value = valueAt(content, issue.path);
  const choices = choicesOf(issue);
  const [meant] = typeof value === 'string' ? closeTo(value, choices ?? []) : [];
  const hint = meant === undefined ? '' : `; did you mean ${meant}?`;
  if (choices !== undefined && issue.code === 'invalid_union')
    return `expected one of ${someOf(choices)}${hint}`;
  return expectationIn(issue) + hint;
}

/** Returns the words that may have been meant, likeliest first. Skips the word itself, which is valid elsewhere. */
export function closeTo(word: string, words: readonly string[]): string[] {
  const near = words
    .filter((other) => other !== word)
    .map((other) => ({ other, distance: distanceOf(plainly(word), plainly(other)) }))
    .filter(({ other, distance }) => distance <= Math.ceil(Math.min(word.length, other.length) / 3))
    .sort((a, b) => a.distance - b.distance);
  return near.map(({ other }) => other);
}

/** Ignores case and separators: `max_output_tokens` is no typing error for `maxOutputTokens`. */
function plainly(word: string): string {
  return word.slice(0, 64).toLowerCase().replace(/[_-]/g, '');
}

/** Returns the Levenshtein distance: https://en.wikipedia.org/wiki/Levenshtein_distance */
function distanceOf(one: string, other: string): number {
  const at = (row: readonly number[], index: number): number => row[index] ?? 0;
  let row = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (const [i, letter] of Array.from(one).entries()) {
    const next = [i + 1];
    for (const [j, each] of Array.from(other).entries()) {
      next.push(Math.min(at(next, j) + 1, at(row, j + 1) + 1, at(row, j) + Number(letter !== each)));
    }
    row = next;
  }
  return at(row, other.length);
}

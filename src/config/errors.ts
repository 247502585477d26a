import type { z } from 'zod';
import { ConductorError } from '../conductor-error';
import { briefly } from '../plan/plan-error';

/**
 * Thrown when a configuration, or a choice among what it configures, cannot be used.
 *
 * The message names the file, the place, the value and what was expected, and never holds a key. Trying again does
 * not help; commands exit with 2.
 */
export class ConfigError extends ConductorError {
  override name = 'ConfigError';
  readonly code: string = 'Configuration';
}

/** The key of a card is not in the environment of the process that needs it. */
export class MissingKeyError extends ConfigError {
  override name = 'MissingKeyError';
  override readonly code = 'MissingKey';
}

const MAX_NAMES = 10;

/** Values at these places may be a key put there by mistake: they are never repeated. */
const SECRET_PLACES = new Set(['apiKeyEnv', 'baseUrl', 'keyEnv']);

/** What a message can hold of a list of any length: the first few, and how many more there are. */
export function someOf(names: readonly string[], separator = ', '): string {
  const more = names.length - MAX_NAMES;
  const rest = more > 0 ? [`and ${more.toLocaleString('en-US')} more`] : [];
  return [...names.slice(0, MAX_NAMES), ...rest].join(separator);
}

/** One finding of the schema as one sentence, e.g. `workers[1].price.input is "cheap": expected number, …`. */
export function explainIssue(issue: z.core.$ZodIssue, content: unknown): string {
  const { path } = issue;
  if (issue.code === 'unrecognized_keys') {
    const names = someOf(issue.keys.map((key) => placeOf([...path, key])));
    return `${names} ${issue.keys.length === 1 ? 'is not a setting' : 'are not settings'}: remove or rename`;
  }
  const value = path.reduce<unknown>(
    (at, key) => (typeof at === 'object' && at !== null ? Reflect.get(at, key) : undefined),
    content,
  );
  return `${placeOf(path)} ${stateOf(path, value)}: ${expectationOf(issue)}`;
}

function placeOf(path: readonly PropertyKey[]): string {
  if (path.length === 0) return 'the configuration';
  const keys = path.map((key) => (typeof key === 'number' ? `[${key}]` : `.${briefly(String(key))}`));
  return keys.join('').replace(/^\./, '');
}

function stateOf(path: readonly PropertyKey[], value: unknown): string {
  if (value === undefined) return 'is missing';
  if (SECRET_PLACES.has(String(path.at(-1)))) return 'cannot be used';
  return `is ${briefly(JSON.stringify(value))}`;
}

function expectationOf(issue: z.core.$ZodIssue): string {
  const options = issue.code === 'invalid_union' && 'options' in issue ? issue.options : undefined;
  if (Array.isArray(options)) return `expected one of ${someOf(options.map(String))}`;
  // The library's own sentences begin with a verdict that ours give already.
  return issue.message.replace(/^(Invalid|Too)( \w+)+: /, '');
}

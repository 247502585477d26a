import type { z } from 'zod';
import { ConductorError } from '../conductor-error';
import { briefly } from '../plan/plan-error';
import { withoutPassword } from './store-url';
import { closestTo, keysAt, valueIn } from './suggest';

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

/** Joins the first few of a list of any length, and says how many more there are. */
export function someOf(names: readonly string[], separator = ', '): string {
  const more = names.length - MAX_NAMES;
  const rest = more > 0 ? [`and ${more.toLocaleString('en-US')} more`] : [];
  return [...names.slice(0, MAX_NAMES), ...rest].join(separator);
}

/** One finding of the schema as one sentence, e.g. `workers[1].price.input is "cheap": expected number, …`. */
export function explainIssue(issue: z.core.$ZodIssue, content: unknown, schema?: z.core.$ZodType): string {
  const { path } = issue;
  if (issue.code === 'unrecognized_keys') return explainKeys(issue, content, schema);
  return `${placeOf(path)} ${stateOf(path, valueAt(content, path))}: ${expectationOf(issue, content)}`;
}

function explainKeys(
  { path, keys }: z.core.$ZodIssueUnrecognizedKeys,
  content: unknown,
  schema: z.core.$ZodType | undefined,
): string {
  const secret = keys.find((key) => /^api[-_]?key$/i.test(key));
  if (secret !== undefined) {
    const place = placeOf([...path, secret]);
    return `${place} is not a setting: put the key into an environment variable, and the name of that into apiKeyEnv`;
  }
  const known = schema === undefined ? [] : keysAt(schema, path, content);
  const meant = keys.map((key) => closestTo(key, known));
  const [only] = meant;
  if (keys.length === 1 && only !== undefined) {
    return `${placeOf([...path, ...keys])} is not a setting: did you mean ${only}?`;
  }
  const named = keys.map((key, index) => {
    const hint = meant[index] === undefined ? '' : ` (did you mean ${meant[index]}?)`;
    return `${placeOf([...path, key])}${hint}`;
  });
  return `${someOf(named)} ${keys.length === 1 ? 'is not a setting' : 'are not settings'}: remove or rename`;
}

export function valueAt(content: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce(valueIn, content);
}

/** Guesses the word that was meant among those to choose from. */
export function meantBy(issue: z.core.$ZodIssue, content: unknown): string | undefined {
  const value = valueAt(content, issue.path);
  const choices = choicesOf(issue);
  return typeof value === 'string' && choices !== undefined ? closestTo(value, choices) : undefined;
}

function choicesOf(issue: z.core.$ZodIssue): string[] | undefined {
  if (issue.code === 'invalid_value') return issue.values.map(String);
  const options = issue.code === 'invalid_union' && 'options' in issue ? issue.options : undefined;
  return Array.isArray(options) ? options.map(String) : undefined;
}

function placeOf(path: readonly PropertyKey[]): string {
  if (path.length === 0) return 'the configuration';
  const keys = path.map((key) => (typeof key === 'number' ? `[${key}]` : `.${briefly(String(key))}`));
  return keys.join('').replace(/^\./, '');
}

function stateOf(path: readonly PropertyKey[], value: unknown): string {
  if (value === undefined) return 'is missing';
  if (SECRET_PLACES.has(String(path.at(-1)))) return 'cannot be used';
  return `is ${briefly(JSON.stringify(typeof value === 'string' ? withoutPassword(value) : value))}`;
}

function expectationOf(issue: z.core.$ZodIssue, content: unknown): string {
  const meant = meantBy(issue, content);
  const hint = meant === undefined ? '' : `; did you mean ${meant}?`;
  const choices = issue.code === 'invalid_union' ? choicesOf(issue) : undefined;
  if (choices !== undefined) return `expected one of ${someOf(choices)}${hint}`;
  // The library's own sentences begin with a verdict that ours give already.
  return issue.message.replace(/^(Invalid|Too)( \w+)+: /, '') + hint;
}

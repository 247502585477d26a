import type { z } from 'zod';
import { ConductorError } from '../protocol/errors';

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

/** The key of a card is not in the environment of the process that was to use it. */
export class MissingKeyError extends ConfigError {
  override name = 'MissingKeyError';
  override readonly code = 'MissingKey';
}

const MAX_VALUE_CHARACTERS = 60;

/** Values at these places may be a key put there by mistake: they are never repeated. */
const SECRET_PLACES = new Set(['apiKeyEnv', 'baseUrl', 'keyEnv']);

/** One finding of the schema as one sentence, e.g. `workers[1].price.input is "cheap": expected number, …`. */
export function explainIssue(issue: z.core.$ZodIssue, content: unknown): string {
  if (issue.code === 'unrecognized_keys') {
    const names = issue.keys.map((key) => placeOf([...issue.path, key])).join(', ');
    return `${names} ${issue.keys.length === 1 ? 'is not a setting' : 'are not settings'}: remove or rename`;
  }
  const value = valueAt(content, issue.path);
  return `${placeOf(issue.path)} ${stateOf(issue.path, value)}: ${expectationOf(issue)}`;
}

/** A path as people write it, e.g. `workers[1].price.input`. */
function placeOf(path: readonly PropertyKey[]): string {
  const text = path
    .map((key) => (typeof key === 'number' ? `[${key}]` : `.${String(key)}`))
    .join('')
    .replace(/^\./, '');
  return text === '' ? 'the configuration' : text;
}

function valueAt(content: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (value, key) => (typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined),
    content,
  );
}

function stateOf(path: readonly PropertyKey[], value: unknown): string {
  if (value === undefined) return 'is missing';
  if (SECRET_PLACES.has(String(path.at(-1)))) return 'cannot be used';
  const text = JSON.stringify(value);
  return `is ${text.length > MAX_VALUE_CHARACTERS ? `${text.slice(0, MAX_VALUE_CHARACTERS)}…` : text}`;
}

function expectationOf(issue: z.core.$ZodIssue): string {
  const options = issue.code === 'invalid_union' && 'options' in issue ? issue.options : undefined;
  if (Array.isArray(options)) return `expected one of ${options.join(', ')}`;
  // The library's own sentences begin with a verdict that ours gives already.
  return issue.message.replace(/^(Invalid|Too)( \w+)+: /, '');
}

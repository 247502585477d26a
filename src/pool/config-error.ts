/**
 * Thrown when a configuration, or a choice among what it configures, cannot be used.
 *
 * The message names the file, the place, the value and what was expected, and never holds a key. Trying again does
 * not help; commands exit with 2.
 */
export class ConfigError extends Error {
  override name = 'ConfigError';
}

/** The key of a card is not in the environment of the process that was to use it. */
export class MissingKeyError extends ConfigError {
  override name = 'MissingKeyError';
}

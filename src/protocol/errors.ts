/**
 * The base of every error of ours that a caller may want to tell apart. Its `code` stays the same from version to
 * version; names of classes and messages may change.
 */
export abstract class ConductorError extends Error {
  /** E.g. `Configuration`, `MissingKey` or `TextNotFound`. */
  abstract readonly code: string;
}

/** Thrown before anything is started, for a command that cannot be carried out as it was given: exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

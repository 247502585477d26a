/** Thrown where a run does not do what it was asked to: its message is the run's own sentence, and nothing was changed. */
export class RefusedError extends Error {
  override readonly name = 'RefusedError';
}

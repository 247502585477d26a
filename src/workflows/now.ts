/** The time as traces hold it: ISO 8601 in UTC, deterministic inside a workflow. */
export function now(): string {
  return new Date(Date.now()).toISOString();
}

import { randomUUID } from 'node:crypto';

/** The address of the Temporal server that the whole jest run shares. */
export function testServerAddress(): string {
  return fromSetup('TEST_TEMPORAL_ADDRESS');
}

/** Returns a unique task queue, so that tests on one server do not interfere. */
export function testTaskQueue(): string {
  return `test-${randomUUID()}`;
}

/** Returns what jest's global set-up has left in the environment. */
export function fromSetup(name: string): string {
  const value = process.env[name];
  if (value === undefined) throw new Error(`${name} is not set: run the test through jest's global set-up.`);
  return value;
}

import { ApplicationFailure, condition } from '@temporalio/workflow';
import type { ToolRequest } from '../../src/protocol/tool-use';

// Workflows of a user's that are tools, beside those of the package.
export * from '../../src/workflows';

/** Returns what it was given. */
export function bookRoom({ arguments: asked, step, turn, ordinal }: ToolRequest): Promise<unknown> {
  return Promise.resolve({ asked, step, turn, ordinal });
}

/** Returns 200 KB. */
export function readArchive(): Promise<string> {
  return Promise.resolve('é'.repeat(100_000));
}

export function refuseRoom(): Promise<never> {
  return Promise.reject(ApplicationFailure.nonRetryable('the house is full'));
}

/** Ends only if it is cancelled. */
export async function waitForRoom(): Promise<void> {
  await condition(() => false);
}

import { ApplicationFailure } from '@temporalio/common';
import { ConductorError } from '../errors';
import { FAILURES } from '../protocol/failures';
import {
  type Client,
  isGrpcServiceError,
  WorkflowNotFoundError,
  WorkflowUpdateFailedError,
} from '@temporalio/client';

/** Thrown if a run refuses what it was asked to do; the message is the run's own, and nothing changed. */
export class RefusedError extends ConductorError {
  override readonly name: string = 'RefusedError';
  readonly code: string = 'Refused';
}

/** Thrown if the key that started a run may not use what was asked of it: an operator may. */
export class NotAllowedError extends RefusedError {
  override readonly name = 'NotAllowedError';
  override readonly code = 'NotAllowed';
}

/** Signals a run, without awaiting an answer. @throws RefusedError if the run has ended */
export async function signalRun(
  client: Client,
  id: string,
  name: string,
  ...args: readonly unknown[]
): Promise<void> {
  await explained(client, id, client.workflow.getHandle(id).signal(name, ...args));
}

/** Sends an update and awaits the run's answer; needs a worker. @throws RefusedError if it refuses or has ended */
export function updateRun<Answer>(
  client: Client,
  id: string,
  name: string,
  ...[arg, ...rest]: readonly [unknown, ...unknown[]]
): Promise<Answer> {
  const handle = client.workflow.getHandle(id);
  const sent = handle.executeUpdate<Answer, [unknown, ...unknown[]]>(name, { args: [arg, ...rest] });
  return explained(client, id, sent);
}

async function explained<Answer>(client: Client, id: string, sent: Promise<Answer>): Promise<Answer> {
  try {
    return await sent;
  } catch (cause) {
    if (cause instanceof WorkflowUpdateFailedError) {
      const { cause: refusal = cause } = cause;
      const isForbidden = refusal instanceof ApplicationFailure && refusal.type === FAILURES.notAllowed;
      throw new (isForbidden ? NotAllowedError : RefusedError)(refusal.message, { cause });
    }
    if (!isNotFound(cause)) throw cause;
    // The server gives the same answer for a run that has ended and for one that never existed.
    const { status } = await client.workflow.getHandle(id).describe();
    const problem = `run ${id} has ended already: ${status.name.toLowerCase()}; nothing of it can be changed`;
    throw new RefusedError(problem, { cause });
  }
}

/** Returns whether the server said that there is no such run, or that it is not running. */
export function isNotFound(error: unknown): boolean {
  // gRPC's NOT_FOUND (https://grpc.io/docs/guides/status-codes).
  const code: number | null = isGrpcServiceError(error) ? error.code : null;
  return code === 5 || error instanceof WorkflowNotFoundError;
}

/** Returns what the server says of a run, or null if `isNotFound`. */
export async function unlessNotFound<Answer>(asked: Promise<Answer>): Promise<Answer | null> {
  try {
    return await asked;
  } catch (error) {
    if (isNotFound(error)) return null;
    throw error;
  }
}

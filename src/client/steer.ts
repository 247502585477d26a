import { ConductorError } from '../errors';
import {
  type Client,
  isGrpcServiceError,
  WorkflowNotFoundError,
  WorkflowUpdateFailedError,
} from '@temporalio/client';

/** Thrown where a run does not do what it was asked to: its message is the run's own sentence, and nothing changed. */
export class RefusedError extends ConductorError {
  override readonly name = 'RefusedError';
  readonly code = 'Refused';
}

/** Signals a run, without an answer. @throws RefusedError for a run that has ended */
export async function signalRun(
  client: Client,
  id: string,
  name: string,
  ...args: readonly unknown[]
): Promise<void> {
  await explained(client, id, client.workflow.getHandle(id).signal(name, ...args));
}

/** Waits for a run's answer, which takes a worker. @throws RefusedError where it refuses, and for a run that has ended */
export function updateRun<Answer>(
  client: Client,
  id: string,
  name: string,
  ...args: unknown[]
): Promise<Answer> {
  const handle = client.workflow.getHandle(id);
  // The type wants an argument at least; the server does not.
  return explained<Answer>(client, id, handle.executeUpdate(name, { args: args as [unknown] }));
}

async function explained<Answer>(client: Client, id: string, sent: Promise<Answer>): Promise<Answer> {
  return sent.catch(async (error: unknown) => {
    throw await explain(client, id, error);
  });
}

async function explain(client: Client, id: string, cause: unknown): Promise<unknown> {
  if (cause instanceof WorkflowUpdateFailedError) {
    return new RefusedError(cause.cause?.message ?? cause.message, { cause });
  }
  if (!isNotFound(cause)) return cause;
  // For a run that has ended, the server answers as for one that never was.
  const { status } = await client.workflow.getHandle(id).describe();
  const problem = `run ${id} has ended already: ${status.name.toLowerCase()}; nothing of it can be changed`;
  return new RefusedError(problem, { cause });
}

/** Whether the server said that there is no such run, or none that goes on. */
export function isNotFound(error: unknown): boolean {
  // gRPC's NOT_FOUND (https://grpc.io/docs/guides/status-codes).
  const code: number | null = isGrpcServiceError(error) ? error.code : null;
  return code === 5 || error instanceof WorkflowNotFoundError;
}

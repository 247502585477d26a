import {
  type Client,
  isGrpcServiceError,
  WorkflowNotFoundError,
  WorkflowUpdateFailedError,
} from '@temporalio/client';
import { RefusedError } from './check-request';

/** A message to a run: its name, and what goes with it, if anything does. */
export interface RunMessage {
  readonly name: string;
  readonly argument?: unknown;
}

/**
 * Signals a run. Nobody answers: it is heard as soon as a worker works on the run.
 *
 * @throws RefusedError for a run that has ended
 */
export async function signalRun(client: Client, id: string, { name, argument }: RunMessage): Promise<void> {
  const handle = client.workflow.getHandle(id);
  await handle.signal(name, argument).catch(async (error: unknown) => {
    throw await explain(client, id, error);
  });
}

/**
 * Sends an update to a run and waits for its answer, which takes a worker.
 *
 * @throws RefusedError with the run's own words when it refuses, and for a run that has ended
 */
export async function updateRun<Answer>(
  client: Client,
  id: string,
  { name, argument }: RunMessage,
): Promise<Answer> {
  const handle = client.workflow.getHandle(id);
  try {
    if (argument === undefined) return await handle.executeUpdate<Answer, []>(name);
    return await handle.executeUpdate<Answer, [unknown]>(name, { args: [argument] });
  } catch (error) {
    throw await explain(client, id, error);
  }
}

async function explain(client: Client, id: string, error: unknown): Promise<unknown> {
  if (error instanceof WorkflowUpdateFailedError) {
    return new RefusedError(error.cause?.message ?? error.message, { cause: error });
  }
  if (!isNotFound(error)) return error;
  // For a run that has ended, the server answers as for one that never was.
  const { status } = await client.workflow.getHandle(id).describe();
  return new RefusedError(
    `run ${id} has ended already: ${status.name.toLowerCase()}; nothing of it can be changed`,
    {
      cause: error,
    },
  );
}

/** gRPC's NOT_FOUND (https://grpc.io/docs/guides/status-codes). */
const NOT_FOUND = 5;

/** Whether the server said that there is no such run, or none that goes on. */
export function isNotFound(error: unknown): boolean {
  if (error instanceof WorkflowNotFoundError) return true;
  const code: number | null = isGrpcServiceError(error) ? error.code : null;
  return code === NOT_FOUND;
}

import { isGrpcServiceError, WorkflowNotFoundError } from '@temporalio/client';

/** gRPC's NOT_FOUND (https://grpc.io/docs/guides/status-codes). */
const NOT_FOUND = 5;

/** Whether the server said that there is no such run, or none that goes on. */
export function isNotFound(error: unknown): boolean {
  if (error instanceof WorkflowNotFoundError) return true;
  const code: number | null = isGrpcServiceError(error) ? error.code : null;
  return code === NOT_FOUND;
}

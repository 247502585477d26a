import { isGrpcServiceError, ServiceError, WorkflowNotFoundError } from '@temporalio/client';

// What Temporal's server says of a request that it does not meet.

/** Codes of gRPC (https://grpc.io/docs/guides/status-codes). */
const CODES = {
  cancelled: 1,
  unknown: 2,
  invalidArgument: 3,
  deadlineExceeded: 4,
  notFound: 5,
  internal: 13,
  unavailable: 14,
} as const;
type Code = keyof typeof CODES;

/** Returns whether the server said that there is no such run, or that it is not running. */
export function isNotFound(error: unknown): boolean {
  return error instanceof WorkflowNotFoundError || hasCode(error, 'notFound');
}

/** Returns whether the server could not be asked, or did not answer in time; what it was asked may have been done. */
export function isUnavailable(error: unknown): boolean {
  return hasCode(error, 'deadlineExceeded', 'unavailable');
}

/** Returns whether a request may yet reach the server, or have an effect there. */
export function mayHaveArrived(error: unknown): boolean {
  return hasCode(error, 'cancelled', 'unknown', 'deadlineExceeded', 'internal', 'unavailable');
}

/** Returns what the server finds wrong with a request; undefined if the error is another. */
export function invalidityIn(error: unknown): string | undefined {
  return hasCode(error, 'invalidArgument') ? serverDetailsIn(error) : undefined;
}

/** Returns the server's words; undefined if the error is not the server's. */
export function serverDetailsIn(error: unknown): string | undefined {
  return serverErrorIn(error)?.details;
}

function hasCode(error: unknown, ...codes: readonly Code[]): boolean {
  const code: number | undefined = serverErrorIn(error)?.code;
  return codes.some((each) => CODES[each] === code);
}

/** Returns the server's error: Temporal's client wraps it in most of its methods, and a native connection throws it. */
function serverErrorIn(error: unknown): { readonly code: number; readonly details: string } | undefined {
  const cause: unknown = error instanceof ServiceError && !isGrpcServiceError(error) ? error.cause : error;
  if (!isGrpcServiceError(cause)) return undefined;
  const { code, details, message } = cause;
  // A native connection has the server's words as the message.
  return { code, details: details === '' ? message : details };
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

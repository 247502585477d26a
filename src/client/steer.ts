import { ConductorError } from '../conductor-error';
import {
  type Client,
  isGrpcServiceError,
  WorkflowNotFoundError,
  WorkflowUpdateFailedError,
} from '@temporalio/client';
import { HINT_FORM, isDepth, isHint } from '../protocol/messages';
import { MAX_QUESTION_BYTES } from '../protocol/solve';

/** Thrown where a run does not do what it was asked to: its message is the run's own sentence, and nothing changed. */
export class RefusedError extends ConductorError {
  override readonly name = 'RefusedError';
  readonly code = 'Refused';
}

interface RunMessage {
  readonly name: string;
  readonly argument?: unknown;
}

/** Signals a run, without an answer. @throws RefusedError for a run that has ended */
export async function signalRun(client: Client, id: string, { name, argument }: RunMessage): Promise<void> {
  try {
    await client.workflow.getHandle(id).signal(name, argument);
  } catch (error) {
    throw await explain(client, id, error);
  }
}

/**
 * Sends an update to a run and waits for the answer, which takes a worker.
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

async function explain(client: Client, id: string, cause: unknown): Promise<unknown> {
  if (cause instanceof WorkflowUpdateFailedError) {
    return new RefusedError(cause.cause?.message ?? cause.message, { cause });
  }
  if (!isNotFound(cause)) return cause;
  // For a run that has ended, the server answers as for one that never was.
  const { status } = await client.workflow.getHandle(id).describe();
  const ended = status.name.toLowerCase();
  return new RefusedError(`run ${id} has ended already: ${ended}; nothing of it can be changed`, { cause });
}

/** Whether the server said that there is no such run, or none that goes on. */
export function isNotFound(error: unknown): boolean {
  // gRPC's NOT_FOUND (https://grpc.io/docs/guides/status-codes).
  const code: number | null = isGrpcServiceError(error) ? error.code : null;
  return code === 5 || error instanceof WorkflowNotFoundError;
}

// A signal has no answer: what a run would ignore is refused before it is sent.

/** @throws RefusedError unless it is a whole number from 0, or null for no limit */
export function checkDepth(depth: number | null): void {
  if (isDepth(depth)) return;
  throw new RefusedError(
    `the depth is ${String(depth)}: it must be a whole number from 0, or null for no limit`,
  );
}

/** @throws RefusedError for a hint without a word, or of more than 2 KB */
export function checkHint(hint: string): void {
  const bytes = Buffer.byteLength(hint);
  if (isHint(hint)) return;
  throw new RefusedError(`the hint has ${bytes} bytes: it must be ${HINT_FORM}`);
}

export class BadQuestionError extends ConductorError {
  override readonly name = 'BadQuestionError';
  readonly code = 'BadQuestion';
}

/** @throws BadQuestionError for a question that is empty or over 1 MiB, before anything is started */
export function checkQuestion(question: string): void {
  if (question.trim() === '') {
    throw new BadQuestionError('the question is empty: give one with at least a word');
  }
  const bytes = Buffer.byteLength(question);
  if (bytes <= MAX_QUESTION_BYTES) return;
  throw new BadQuestionError(
    `the question has ${bytes} bytes; at most ${MAX_QUESTION_BYTES} are accepted: shorten it, or give the part that matters`,
  );
}

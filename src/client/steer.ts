import {
  type Client,
  isGrpcServiceError,
  WorkflowNotFoundError,
  WorkflowUpdateFailedError,
} from '@temporalio/client';

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
import { isDepth, isHint, MAX_HINT_CHARACTERS } from '../protocol/messages';
import { MAX_QUESTION_BYTES } from '../protocol/solve';

/** Thrown for a question that no run can be made of, before anything is started. */
export class BadQuestionError extends Error {
  override readonly name = 'BadQuestionError';
}

/**
 * Refuses a question before anything is started for it.
 *
 * @throws BadQuestionError for a question that is empty or over 1 MiB
 */
export function checkQuestion(question: string): void {
  if (question.trim() === '')
    throw new BadQuestionError('the question is empty: give one with at least a word');
  const bytes = Buffer.byteLength(question);
  if (bytes <= MAX_QUESTION_BYTES) return;
  throw new BadQuestionError(
    `the question has ${bytes} bytes; at most ${MAX_QUESTION_BYTES} are accepted: shorten it, or give the part that matters`,
  );
}

// Nobody answers a signal: what a run would pass over without a word is refused before it is sent.

/** @throws RefusedError unless it is a whole number from 0, or null for no limit */
export function checkDepth(depth: number | null): void {
  if (isDepth(depth)) return;
  throw new RefusedError(
    `the depth is ${String(depth)}: it must be a whole number from 0, or null for no limit`,
  );
}

/** @throws RefusedError for a hint without a word, or longer than a page */
export function checkHint(hint: string): void {
  const { length } = hint;
  if (isHint(hint)) return;
  throw new RefusedError(
    `the hint has ${length} characters: it must be a text of 1 to ${MAX_HINT_CHARACTERS} characters`,
  );
}

/** Thrown where a run does not do what it was asked to: its message is the run's own sentence, and nothing was changed. */
export class RefusedError extends Error {
  override readonly name = 'RefusedError';
}

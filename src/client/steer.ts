import { ApplicationFailure } from '@temporalio/common';
import { ConductorError } from '../errors';
import { FAILURES } from '../protocol/failures';
import { type Client, WorkflowUpdateFailedError } from '@temporalio/client';
import { describeRun, statusOf } from './find-runs';
import { readHistory } from './history';
import { serverDetailsIn, isNotFound } from './server-errors';

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

/**
 * Signals a run, without awaiting an answer.
 * @param most signals of this name that a run takes; it would ignore any more
 * @throws RefusedError if the run has ended, or has been sent as many
 */
export async function signalRun(
  client: Client,
  id: string,
  { name, most }: { readonly name: string; readonly most: number },
  ...args: readonly unknown[]
): Promise<void> {
  const sent = await explained(client, id, countSignals(client, id, name));
  if (sent >= most) {
    const refusal = `run ${id} was sent ${name} ${sent} times, and takes it ${most} times at most`;
    throw new RefusedError(`${refusal}: let it end, cancel it, or start another run`);
  }
  await explained(client, id, client.workflow.getHandle(id).signal(name, ...args));
}

async function countSignals(client: Client, id: string, name: string): Promise<number> {
  let count = 0;
  for await (const events of readHistory(client, { workflowId: id }, null)) {
    const names = events.map((event) => event.workflowExecutionSignaledEventAttributes?.signalName);
    count += names.filter((each) => each === name).length;
  }
  return count;
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

/** Bounds of Temporal on the updates of a run, by what its server says of them. */
const UPDATE_BOUNDS: readonly (readonly [says: string, because: string])[] = [
  [
    'in-flight updates',
    'as many changes as Temporal keeps for one run wait for its answer: try again when they have one',
  ],
  [
    'total number of distinct updates',
    'it has had as many changes as Temporal allows: let it end, or cancel it',
  ],
];

function boundMet(error: unknown): string | null {
  const said = serverDetailsIn(error);
  return UPDATE_BOUNDS.find(([says]) => said?.includes(says))?.[1] ?? null;
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
    const because = boundMet(cause);
    if (because !== null) throw new RefusedError(`run ${id} was not changed: ${because}`, { cause });
    if (!isNotFound(cause)) throw cause;
    // The server gives the same answer for a run that has ended and for one that never existed.
    await requireUnended(client, id, cause);
    throw cause;
  }
}

/** Refuses what only a run that goes on can do or tell; one that never existed is left to the caller. @throws RefusedError */
export async function requireUnended(client: Client, id: string, cause?: unknown): Promise<void> {
  const run = await describeRun(client, id);
  const status = run === null ? 'running' : statusOf(run);
  if (status === 'running') return;
  const remedy = `"temporal-conductor retry ${id} --from STEP" goes on from a step as a new run`;
  throw new RefusedError(`run ${id} has ended already: ${status}; nothing of it can be changed. ${remedy}`, {
    cause,
  });
}

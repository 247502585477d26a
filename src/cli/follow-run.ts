import { isNotFound } from '../client/not-found';
import type { SolveResult } from '../protocol/solve';
import { ApprovalDesk } from './approval/approval-desk';
import { personAtTerminal } from './approval/person-at-terminal';
import { unlessInterrupted } from './interruption';
import type { Session } from './open-session';
import type { WorkerSession } from './open-worker-session';
import { pollRetries } from './poll-retries';
import { UsageError } from './usage-error';
import { openView, type RunView } from './view/open-view';

/**
 * Shows a run on stderr until it has ended.
 *
 * @returns undefined when the person at the keyboard left before
 * @throws UsageError for an unknown run
 */
export async function followRun(
  session: Session | WorkerSession,
  id: string,
  interruption: AbortSignal,
): Promise<SolveResult | undefined> {
  const view = await openView(process.stderr);
  const stopPolling = pollRetries(session.conductor, id, view.showRetries);
  const traces = session.conductor.watch(id);
  const desk = openDesk(session, view);
  const broken = 'worker' in session ? breakdownOf(session) : new Promise<never>(() => undefined);
  let last: SolveResult | undefined;
  try {
    for (;;) {
      const next = await unlessInterrupted(interruption, Promise.race([traces.next(), broken, desk.broken]));
      if (next === undefined) return undefined;
      if (next.done === true) return last;
      last = next.value;
      view.show(last);
      desk.consider(last);
    }
  } catch (error) {
    throw explainUnknown(error, id, session);
  } finally {
    desk.close();
    stopPolling();
    view.close();
  }
}

/** Puts the server's "not found" into a sentence of ours; any other error stays what it is. */
export function explainUnknown(error: unknown, id: string, { server }: Session): unknown {
  if (!isNotFound(error)) return error;
  return new UsageError(
    `there is no run ${JSON.stringify(id)} in namespace ${server.namespace} at ${server.address}: ` +
      'check the id, the folder you are in, and TEMPORAL_ADDRESS',
  );
}

/** Only a person at a terminal can be asked; anywhere else the view says how to approve. */
function openDesk(
  { conductor }: Session,
  { whilePaused }: RunView,
): Pick<ApprovalDesk, 'broken' | 'consider' | 'close'> {
  if (process.stdin.isTTY && process.stderr.isTTY) {
    return new ApprovalDesk({ conductor, whilePaused, personFor: personAtTerminal });
  }
  return { broken: new Promise(() => undefined), consider: () => undefined, close: () => undefined };
}

async function breakdownOf({ worker }: WorkerSession): Promise<never> {
  await worker.ended;
  throw new Error('the worker of this command stopped working; the run is kept');
}

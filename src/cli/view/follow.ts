import { unlessInterrupted } from '../interruption';
import { watchForMissingWorker } from '../queues';
import type { Session } from '../session';

interface Followed<State, Aside> {
  /** Grows until what is followed has ended. */
  readonly states: AsyncIterator<State>;
  readonly show: (state: State) => void;
  /** Ends the following before that. */
  readonly aside?: Promise<Aside>;
}

/**
 * Shows a workflow until it has ended, and says which workers it waits for.
 *
 * @returns its last state, or what came aside; null after Ctrl-C
 * @throws what it failed with; Error when the command's own worker breaks down
 */
export async function follow<State, Aside = never>(
  session: Session,
  workflowId: string,
  interruption: AbortSignal,
  { states, show, aside }: Followed<State, Aside>,
): Promise<State | Aside | undefined | null> {
  const stopLooking = watchForMissingWorker(session, workflowId);
  const ended = aside?.then((value) => ({ done: true as const, value }));
  const others = [breakdownOf(session.worker?.ended), ...(ended === undefined ? [] : [ended])];
  let last: State | undefined;
  try {
    for (;;) {
      const next = await unlessInterrupted(interruption, Promise.race([states.next(), ...others]));
      if (next === undefined) return null;
      if (next.done === true) return (next.value as Aside | undefined) ?? last;
      last = next.value;
      show(last);
    }
  } finally {
    stopLooking();
  }
}

/** Rejects when a command's own worker breaks down; else it never settles. */
export async function breakdownOf(ended = new Promise<void>(() => undefined)): Promise<never> {
  await ended;
  throw new Error('the worker of this command stopped working');
}

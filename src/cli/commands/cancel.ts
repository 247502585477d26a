import { EXIT, type ExitCode } from '../exit-code';
import { explainUnknown, sayHowToComeBack } from '../follow-run';
import { listenForInterruption, unlessInterrupted } from '../interruption';
import type { Session } from '../session';
import { say } from '../terminal';
import { openRunSession } from './trace';

/** Cancels a run and waits until it has ended. */
export async function cancel(id: string, options: { readonly config?: string }): Promise<ExitCode> {
  const interruption = listenForInterruption();
  const session = await openRunSession(options.config);
  try {
    const code = await unlessInterrupted(interruption, cancelAndWait(session, id));
    if (code !== undefined) return code;
    sayHowToComeBack(id, options.config);
    return EXIT.interrupted;
  } finally {
    await session.close();
  }
}

async function cancelAndWait(session: Session, id: string): Promise<ExitCode> {
  const { conductor } = session;
  try {
    const { status } = await conductor.trace(id);
    if (status !== 'running') {
      say(`Run ${id} had already ended: ${status}.`);
      return EXIT.failed;
    }
    await conductor.cancel(id);
    say(`Asked run ${id} to stop …`);
    return await awaitEnd(session, id);
  } catch (error) {
    throw explainUnknown(error, id, session);
  }
}

async function awaitEnd({ conductor }: Session, id: string): Promise<ExitCode> {
  for await (const { status } of conductor.watch(id)) {
    if (status === 'running') continue;
    const isCancelled = status === 'cancelled';
    say(isCancelled ? `Run ${id} is cancelled.` : `Run ${id} had ended before it heard of it: ${status}.`);
    return isCancelled ? EXIT.answered : EXIT.failed;
  }
  throw new Error(`the history of run ${id} ended without an end of the run: ask for its trace`);
}

import { type AddCommands, CONFIG } from '../arguments';
import { EXIT, type ExitCode } from '../exit-code';
import { explainUnknown, sayHowToComeBack } from '../follow-run';
import { listenForInterruption, unlessInterrupted } from '../interruption';
import { type Session, withSession } from '../session';
import { loadSettings } from '../settings';
import { say } from '../terminal';

/** `cancel`: stops a run, and waits until it has ended. */
export const addCancel: AddCommands = (program, settle) => {
  program
    .command('cancel')
    .description('stop a run, and wait until it has ended')
    .argument('<id>')
    .option(...CONFIG)
    .action(async (id: string, { config: file }: { readonly config?: string }) => {
      settle(await cancel(id, file));
    });
};

async function cancel(id: string, file: string | undefined): Promise<ExitCode> {
  const interruption = listenForInterruption();
  const loaded = await loadSettings(file);
  return withSession(loaded, { file, role: 'follow', used: true }, async (session) => {
    const code = await unlessInterrupted(interruption, cancelAndWait(session, id));
    if (code === undefined) sayHowToComeBack(id, file);
    return code ?? EXIT.interrupted;
  });
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
    for await (const { status } of conductor.watch(id)) {
      if (status === 'running') continue;
      const isCancelled = status === 'cancelled';
      say(isCancelled ? `Run ${id} is cancelled.` : `Run ${id} had ended before it heard of it: ${status}.`);
      return isCancelled ? EXIT.answered : EXIT.failed;
    }
  } catch (error) {
    throw explainUnknown(error, id, session);
  }
  throw new Error(`the history of run ${id} ended without an end of the run: ask for its trace`);
}

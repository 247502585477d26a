import { once } from 'node:events';
import { resolveRun } from '../../config/resolve-run';
import { reasonOf } from '../../errors';
import { type ConsultedTeam, importMcp, serverOfTeam } from '../../gateway/mcp/team-server';
import { checkStore } from '../../store/open-store';
import {
  EXIT,
  type ExitCode,
  exitCodeOfError,
  listenForInterruption,
  unlessInterrupted,
} from '../kit/ending';
import { findRun } from '../kit/find-run';
import { checkCostLimit, loadServable, type WorkOptions } from '../kit/load-settings';
import { type Session, withSession } from '../kit/session';
import { outliveReader, say } from '../kit/terminal';
import { sayResumed } from '../kit/view/follow-run';
import { startNoted } from '../solve/solve';

/** `mcp`: serves a client of the Model Context Protocol, whose messages alone are on stdin and stdout, until it leaves. */
export async function mcp(options: WorkOptions): Promise<ExitCode> {
  const interruption = listenForInterruption();
  // A client that is gone must not keep the session from being closed.
  outliveReader();
  const sdk = await importMcp();
  const opening = new Opening();
  const left = once(process.stdin, 'end');
  // Clients wait seconds at most for a first answer, and a server or a model may have to be downloaded.
  const serving = sdk.serveStdio(() => serverOfTeam(sdk, teamOf(opening.session)));
  try {
    const loaded = await loadServable(options);
    await checkStore(loaded.store);
    return await withSession(loaded, options, { role: 'work' }, async (session) => {
      await sayResumed(session);
      opening.succeed(session);
      say('Ready: a client of the Model Context Protocol may write to standard input.');
      await unlessInterrupted(interruption, Promise.race([left, session.worker?.ended ?? left]));
      await serving.close();
      return EXIT.answered;
    });
  } catch (error) {
    opening.fail(error);
    say(`temporal-conductor: ${reasonOf(error)}`);
    // The client shows its user what a call is told, and hardly ever what stands on stderr.
    const told = opening.session.then(
      () => null,
      () => left,
    );
    await unlessInterrupted(interruption, told);
    return exitCodeOfError(error);
  }
}

/** A session to be, for which calls wait. */
class Opening {
  succeed: (session: Session) => void = () => undefined;
  fail: (error: unknown) => void = () => undefined;
  readonly session = new Promise<Session>((resolve, reject) => {
    this.succeed = resolve;
    this.fail = reject;
  });
}

function teamOf(opening: Promise<Session>): ConsultedTeam {
  return {
    start: async ({ question, limits }) => {
      const session = await opening;
      const run = resolveRun(session.config, { limits });
      if (typeof limits?.costUsd === 'number') checkCostLimit(run);
      return startNoted(session, { question, limits });
    },
    follow: async function* (id, signal) {
      yield* (await opening).conductor.stream(id, { signal });
    },
    read: async (id) => {
      const session = await opening;
      return session.conductor.trace(await findRun(session, id));
    },
    explain: reasonOf,
  };
}

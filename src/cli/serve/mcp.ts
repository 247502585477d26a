import { once } from 'node:events';
import { resolveRun } from '../../config/resolve-run';
import { reasonOf } from '../../errors';
import { importMcp, serverOfTeam, type Team } from '../../gateway/mcp/team-server';
import { checkStore } from '../../store/open-store';
import { EXIT, type ExitCode, listenForInterruption, unlessInterrupted } from '../kit/ending';
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
  const loaded = await loadServable(options);
  await checkStore(loaded.store);
  return withSession(loaded, options, { role: 'work' }, async (session) => {
    await sayResumed(session);
    const left = once(process.stdin, 'end');
    const serving = sdk.serveStdio(() => serverOfTeam(sdk, teamOf(session)));
    say('Ready: a client of the Model Context Protocol may write to standard input.');
    await unlessInterrupted(interruption, Promise.race([left, session.worker?.ended ?? left]));
    await serving.close();
    return EXIT.answered;
  });
}

function teamOf(session: Session): Team {
  const { conductor, config } = session;
  return {
    start: async ({ question, limits }) => {
      const run = resolveRun(config, { limits });
      if (typeof limits?.costUsd === 'number') checkCostLimit(run);
      return startNoted(session, { question, limits });
    },
    follow: (id, signal) => conductor.stream(id, { signal }),
    read: async (id) => conductor.trace(await findRun(session, id)),
    explain: reasonOf,
  };
}

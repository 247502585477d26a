import type { ExitCode } from '../exit-code';
import { listenForInterruption } from '../interruption';
import { openRunSession } from '../open-run-session';
import { showRun } from '../show-run';

/** The options that every command about a known run takes. */
export interface RunOptions {
  readonly config?: string;
  readonly json?: boolean;
}

/** Follows a run to its end. */
export async function watch(id: string, options: RunOptions): Promise<ExitCode> {
  const interruption = listenForInterruption();
  const session = await openRunSession(options.config);
  try {
    return await showRun(session, id, interruption, options);
  } finally {
    await session.close();
  }
}

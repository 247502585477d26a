import { attachServer } from '../attach';
import { EXIT, type ExitCode } from '../exit-code';
import { fitToServer } from '../fit-to-server';
import { followRun } from '../follow-run';
import { listenForInterruption } from '../interruption';
import { loadSettings } from '../load-settings';
import { openSession } from '../open-session';
import { openWorkerSession } from '../open-worker-session';
import { printResult } from '../print-result';
import { sayHowToComeBack } from '../say-runs';

/** The options that every command about a known run takes. */
export interface RunOptions {
  readonly config?: string;
  readonly json?: boolean;
}

/** Follows a run to its end. Beside the embedded server it brings a worker, so that a run left behind goes on. */
export async function watch(id: string, options: RunOptions): Promise<ExitCode> {
  const interruption = listenForInterruption();
  const loaded = await loadSettings(options.config);
  const server = await attachServer(loaded, { used: true });
  const config = fitToServer(server, loaded, options.config);
  const open = server.embedded ? openWorkerSession : openSession;
  const session = await open(server, config, { graceMs: 0 });
  try {
    const result = await followRun(session, id, interruption);
    if (result !== undefined) return await printResult(result, options.json === true);
    sayHowToComeBack(id, options.config);
    return EXIT.interrupted;
  } finally {
    await session.close();
  }
}

import { EXIT, type ExitCode } from './exit-code';
import { followRun } from './follow-run';
import type { Session } from './open-session';
import type { WorkerSession } from './open-worker-session';
import { printResult } from './print-result';
import { sayHowToComeBack } from './say-runs';

/** Shows a run to its end and prints what came of it, or says how to come back where the person left before. */
export async function showRun(
  session: Session | WorkerSession,
  id: string,
  interruption: AbortSignal,
  { json, config }: { readonly json?: boolean; readonly config?: string },
): Promise<ExitCode> {
  const result = await followRun(session, id, interruption);
  if (result !== undefined) return printResult(result, json === true);
  sayHowToComeBack(id, config);
  return EXIT.interrupted;
}

import type { SolveResult } from '../protocol/solve';
import { explainStop } from '../trace/explain-stop';
import { exitCodeOf, type ExitCode } from './exit-code';
import { harmless, print, say } from './terminal';

/** Prints what an ended run came to: its answer, or everything as JSON, on stdout; why there is none on stderr. */
export async function printResult(result: SolveResult, asJson: boolean): Promise<ExitCode> {
  const { id, status, answer, error, stoppedBy } = result;
  if (asJson) await print(toJson(result));
  else if (answer !== null) await print(process.stdout.isTTY ? harmless(answer) : answer);
  if (error !== null) say(error.message);
  if (status === 'cancelled') say(`Run ${id} was cancelled.`);
  if (stoppedBy !== null) say(explainStop(stoppedBy, result).join('\n'));
  return exitCodeOf(result);
}

/** The result as the exported `solveResultSchema` reads it. */
export function toJson(result: SolveResult): string {
  return JSON.stringify(result, null, 2);
}

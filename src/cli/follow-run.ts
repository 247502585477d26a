import type { ConductorClient } from '../client/conductor-client';
import type { Retry } from '../client/run-tree';
import { isNotFound } from '../client/steer';
import type { SolveResult } from '../protocol/solve';
import { explainStop } from '../trace/describe';
import { ApprovalDesk } from './approval/desk';
import { personAtTerminal } from './approval/verdict';
import { EXIT, type ExitCode, exitCodeOf, UsageError } from './exit-code';
import { unlessInterrupted } from './interruption';
import type { Session } from './session';
import { harmless, print, say } from './terminal';
import { openView, type RunView } from './view/open-view';

/** The options that every command which shows a run takes. */
export interface ShowOptions {
  readonly config?: string;
  readonly json?: boolean;
}

/**
 * Shows a run to its end and prints its answer, or everything as JSON, on stdout; why there is no answer, or how to
 * come back where the person left before, goes to stderr.
 *
 * @throws UsageError for an unknown run
 */
export async function showRun(
  session: Session,
  id: string,
  interruption: AbortSignal,
  { json, config }: ShowOptions,
): Promise<ExitCode> {
  const result = await followRun(session, id, interruption);
  if (result === undefined) {
    sayHowToComeBack(id, config);
    return EXIT.interrupted;
  }
  const { status, answer, error, stoppedBy } = result;
  if (json === true) await print(toJson(result));
  else if (answer !== null) await print(process.stdout.isTTY ? harmless(answer) : answer);
  if (error !== null) say(error.message);
  if (status === 'cancelled') say(`Run ${id} was cancelled.`);
  if (stoppedBy !== null) say(explainStop(stoppedBy, result).join('\n'));
  return exitCodeOf(result);
}

/** Shows a run on stderr until it has ended; undefined when the person at the keyboard left before. */
async function followRun(
  session: Session,
  id: string,
  interruption: AbortSignal,
): Promise<SolveResult | undefined> {
  const view = await openView(process.stderr);
  const stopPolling = pollRetries(session.conductor, id, view.showRetries);
  const traces = session.conductor.watch(id);
  const desk = openDesk(session, view);
  const broken = breakdownOf(session);
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

/** A retry waits for a second at least, so nothing is missed that a person would see. */
const PAUSE_MS = 1_000;

/** Asks again and again which calls of a run wait for another attempt; returns what ends it. */
function pollRetries(
  conductor: ConductorClient,
  id: string,
  show: (retries: readonly Retry[]) => void,
): () => void {
  let isOver = false;
  const poll = async (): Promise<void> => {
    // Only a detail of the view: what is wrong with run or server is reported by what follows the run.
    const retries = await conductor.retries(id).catch(() => []);
    if (!isOver) show(retries);
  };
  const timer = setInterval(() => void poll(), PAUSE_MS);
  return () => {
    isOver = true;
    clearInterval(timer);
  };
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

async function breakdownOf({ worker }: Session): Promise<never> {
  await (worker?.ended ?? new Promise(() => undefined));
  throw new Error('the worker of this command stopped working; the run is kept');
}

/** Puts the server's "not found" into a sentence of ours; any other error stays what it is. */
export function explainUnknown(error: unknown, id: string, { server }: Session): unknown {
  if (!isNotFound(error)) return error;
  return new UsageError(
    `there is no run ${JSON.stringify(id)} in namespace ${server.namespace} at ${server.address}: ` +
      'check the id, the folder you are in, and TEMPORAL_ADDRESS',
  );
}

/** The result as the exported `solveResultSchema` reads it. */
export function toJson(result: SolveResult): string {
  return JSON.stringify(result, null, 2);
}

/** The command that shows a run. */
export function watchOf(id: string, config: string | undefined): string {
  return `temporal-conductor watch ${id}${config === undefined ? '' : ` --config ${config}`}`;
}

/** What to do with a run that no one looks at any more. */
export function sayHowToComeBack(id: string, config: string | undefined): void {
  say(`Interrupted. Run ${id} is kept; come back to it with: ${watchOf(id, config)}`);
}

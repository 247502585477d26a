import type { ConductorClient } from '../client/conductor-client';
import type { Retry } from '../client/run-tree';
import { isNotFound } from '../client/steer';
import type { TrainableConfig as Config } from '../training/config/schema';
import { SOLVE_WORKFLOW } from '../protocol/names';
import type { SolveResult } from '../protocol/solve';
import { counted, explainStop } from '../trace/describe';
import { ApprovalDesk } from './approval/desk';
import { personAtTerminal } from './approval/verdict';
import { EXIT, type ExitCode, exitCodeOf, UsageError } from './exit-code';
import { unlessInterrupted } from './interruption';
import type { Session, WorkerSession } from './session';
import { harmless, print, say } from './terminal';
import { openView, type RunView } from './view/open-view';

/**
 * Shows a run on stderr until it has ended.
 *
 * @returns undefined when the person at the keyboard left before
 * @throws UsageError for an unknown run
 */
async function followRun(
  session: Session | WorkerSession,
  id: string,
  interruption: AbortSignal,
): Promise<SolveResult | undefined> {
  const view = await openView(process.stderr);
  const stopPolling = pollRetries(session.conductor, id, view.showRetries);
  const traces = session.conductor.watch(id);
  const desk = openDesk(session, view);
  const broken = 'worker' in session ? breakdownOf(session) : new Promise<never>(() => undefined);
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

/** Puts the server's "not found" into a sentence of ours; any other error stays what it is. */
export function explainUnknown(error: unknown, id: string, { server }: Session): unknown {
  if (!isNotFound(error)) return error;
  return new UsageError(
    `there is no run ${JSON.stringify(id)} in namespace ${server.namespace} at ${server.address}: ` +
      'check the id, the folder you are in, and TEMPORAL_ADDRESS',
  );
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

async function breakdownOf({ worker }: WorkerSession): Promise<never> {
  await worker.ended;
  throw new Error('the worker of this command stopped working; the run is kept');
}

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

/** Prints what an ended run came to: its answer, or everything as JSON, on stdout; why there is none on stderr. */
async function printResult(result: SolveResult, asJson: boolean): Promise<ExitCode> {
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

/** Tells of other runs of this folder, left by an earlier command or watched by another: our worker serves them, too. */
export async function sayUnfinished({ server, temporal }: Session, config: Config): Promise<void> {
  // On a server that others share, what runs there is no news to the person here.
  if (!server.embedded) return;
  const query = `WorkflowType = '${SOLVE_WORKFLOW}' AND TaskQueue = '${config.temporal.taskQueue}' AND ExecutionStatus = 'Running'`;
  const { count } = await temporal.workflow.count(query);
  if (count > 0) say(`${counted(count, 'unfinished run')} of this folder will go on as well.`);
}

/** What to do with a run that nobody looks at any more. */
export function sayHowToComeBack(id: string, config: string | undefined): void {
  const option = config === undefined ? '' : ` --config ${config}`;
  say(`Interrupted. Run ${id} is kept; come back to it with: temporal-conductor watch ${id}${option}`);
}

/** A retry waits for a second at least, so nothing is missed that a person would see. */
const PAUSE_MS = 1_000;

/** Asks again and again which calls of a run wait for another attempt; returns what ends it. */
function pollRetries(
  conductor: Pick<ConductorClient, 'retries'>,
  id: string,
  show: (retries: readonly Retry[]) => void,
): () => void {
  let isOver = false;
  const poll = async (): Promise<void> => {
    // An embellishment of the view: what is wrong with run or server is told by whoever follows it.
    const retries = await conductor.retries(id).catch(() => []);
    if (!isOver) show(retries);
  };
  const timer = setInterval(() => void poll(), PAUSE_MS);
  return () => {
    isOver = true;
    clearInterval(timer);
  };
}

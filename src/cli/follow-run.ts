import type { ConductorClient, Retry } from '../client/conductor-client';
import type { SolveResult } from '../protocol/solve';
import { explainStop } from '../trace/describe';
import { ApprovalDesk } from './approval/desk';
import { personAtTerminal } from './approval/verdict';
import { EXIT, type ExitCode, exitCodeOf } from './exit-code';
import { unlessInterrupted } from './interruption';
import { watchForAbsence } from './queues';
import type { Session } from './session';
import type { WorkOptions } from './settings';
import { print, say, toJson } from './terminal';
import { openView, type RunView } from './view/open-view';

export interface ShowOptions extends WorkOptions {
  readonly json?: boolean;
}

/**
 * Shows a run to its end and prints its answer, or everything as JSON, on stdout; why there is no answer, or how to
 * come back to a run that was left, goes to stderr.
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
  else if (answer !== null) await print(answer, { exact: true });
  if (error !== null) say(error.message);
  if (status === 'cancelled') say(`Run ${id} was cancelled.`);
  if (stoppedBy !== null) say(explainStop(stoppedBy, result).join('\n'));
  return exitCodeOf(result);
}

/** Shows a run on stderr until it has ended; undefined after Ctrl-C. */
async function followRun(
  session: Session,
  id: string,
  interruption: AbortSignal,
): Promise<SolveResult | undefined> {
  const { conductor, worker } = session;
  const view = await openView(process.stderr);
  const stopPolling = pollRetries(conductor, id, view);
  const stopLooking = watchForAbsence(session, id, (line) => {
    void view.whilePaused(() => {
      say(line);
      return Promise.resolve();
    });
  });
  const traces = conductor.watch(id);
  const desk = openDesk(conductor, view);
  const broken = breakdownOf(worker?.ended);
  let last: SolveResult | undefined;
  try {
    for (;;) {
      const next = await unlessInterrupted(
        interruption,
        Promise.race([traces.next(), broken, desk?.broken ?? broken]),
      );
      if (next === undefined) return undefined;
      if (next.done === true) return last;
      last = next.value;
      view.show(last);
      desk?.consider(last);
    }
  } finally {
    desk?.close();
    stopPolling();
    stopLooking();
    view.close();
  }
}

/** A retry waits for a second at least, so nothing is missed that a person would see. */
const PAUSE_MS = 1_000;

/** Keeps the view told which calls of a run wait for another attempt; returns what ends it. */
function pollRetries(conductor: ConductorClient, id: string, view: RunView): () => void {
  let isOver = false;
  const show = (retries: readonly Retry[]): void => {
    if (!isOver) view.showRetries(retries);
  };
  const timer = setInterval(() => {
    conductor.retries(id).then(show, () => undefined);
  }, PAUSE_MS);
  return () => {
    isOver = true;
    clearInterval(timer);
  };
}

/** Only a person at a terminal can be asked; anywhere else the view says how to approve. */
function openDesk(conductor: ConductorClient, { whilePaused }: RunView): ApprovalDesk | null {
  if (!process.stdin.isTTY || !process.stderr.isTTY) return null;
  return new ApprovalDesk({ conductor, whilePaused, personFor: personAtTerminal });
}

async function breakdownOf(ended = new Promise<void>(() => undefined)): Promise<never> {
  await ended;
  throw new Error('the worker of this command stopped working; the run is kept');
}

export function watchOf(id: string, config: string | undefined): string {
  return `temporal-conductor watch ${id}${config === undefined ? '' : ` --config ${config}`}`;
}

export function sayHowToComeBack(id: string, config: string | undefined): void {
  say(`Interrupted. Run ${id} is kept; come back to it with: ${watchOf(id, config)}`);
}

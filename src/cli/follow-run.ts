import type { Retry } from '../client/conductor-client';
import { unfinishedOf } from '../client/list-runs';
import { someOf } from '../config/errors';
import type { SolveResult } from '../protocol/solve';
import { counted, explainStop, howToApprove } from '../trace/describe';
import { addOns } from './add-ons';
import { PERSON_AT_TERMINAL, PlanQuestions } from './approval/ask-person';
import { EXIT, type ExitCode, exitCodeOf } from './exit-code';
import { reasonOf } from '../errors';
import { isWorkedOnElsewhere } from './queues';
import type { Session } from './session';
import type { WorkOptions } from './load-settings';
import { startedRuns } from './find-run';
import { isPersonHere, print, say, toJson } from './terminal';
import { follow, followPatiently } from './view/follow';
import { openView } from './view/open-view';
import { lookOfRun } from './view/run-view';

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
  const result = await followRun(session, id, interruption).catch((error: unknown) => {
    const comeBack = `Run ${id} is kept; come back to it with: ${watchOf(id, config)}`;
    throw new Error(`${reasonOf(error)}. ${comeBack}`, { cause: error });
  });
  if (result === null || result === undefined) {
    await sayHowToComeBack(session, id);
    return EXIT.interrupted;
  }
  if ('left' in result) {
    say(`Left for later. Decide with: ${howToApprove(result.left)}; follow it with: ${watchOf(id, config)}`);
    return EXIT.answered;
  }
  const { status, answer, error, stoppedBy } = result;
  if (json === true) await print(toJson(result));
  else if (answer !== null) await print(answer, { exact: true });
  if (error !== null) say(error.message);
  if (status === 'cancelled') say(`Run ${id} was cancelled.`);
  if (stoppedBy !== null) say(explainStop(stoppedBy, result).join('\n'));
  return exitCodeOf(result);
}

/** Shows a run on stderr until it has ended, or a plan of it was left waiting; null after Ctrl-C. */
async function followRun(
  session: Session,
  id: string,
  interruption: AbortSignal,
): Promise<SolveResult | { readonly left: string } | undefined | null> {
  const { conductor } = session;
  const isAsked = isPersonHere();
  const view = openView(process.stderr, lookOfRun(isAsked));
  const { whilePaused } = view;
  const questions = isAsked
    ? new PlanQuestions({ decider: conductor, whilePaused, person: PERSON_AT_TERMINAL })
    : null;
  let trace: SolveResult | undefined;
  let retries: readonly Retry[] = [];
  let isOver = false;
  const show = (): void => {
    if (trace !== undefined && !isOver) view.show({ trace, retries });
  };
  // A look that fails is left out.
  const looking = setInterval(() => {
    conductor.retries(id).then(
      (found) => {
        retries = found;
        show();
      },
      () => undefined,
    );
  }, RETRIES_MS);
  return follow<SolveResult, { readonly left: string }>(session, id, interruption, {
    states: followPatiently(session, id, say),
    aside: questions?.left,
    view: {
      whilePaused,
      show: (next) => {
        trace = next;
        show();
        questions?.consider(next);
      },
      close: () => {
        isOver = true;
        clearInterval(looking);
        questions?.close();
        view.close();
      },
    },
  });
}

/** A retry waits for a second at least, so nothing is missed that a person would see. */
const RETRIES_MS = 1_000;

/**
 * Runs that an earlier command of this folder left, evaluations and nights included: our worker goes on with them, too.
 * What another worker goes on with already, and what runs on a server that others share, is no news to the person here.
 */
export async function sayResumed(session: Session, config: string | undefined, own?: string): Promise<void> {
  const { conductor, server, temporal, config: settings } = session;
  if (!server.embedded || (await isWorkedOnElsewhere(session))) return;
  const { taskQueue } = settings.temporal;
  const known = await startedRuns(server);
  const workflows = addOns.flatMap(({ workflowOf }) => workflowOf?.(settings) ?? []);
  const [{ runs, unlisted }, ...more] = await Promise.all([
    conductor.list({ ended: 0, taskQueue, known }),
    ...workflows.map(async ({ type, stopOf }) => {
      const ids = await unfinishedOf(temporal, type, taskQueue);
      return ids.map((id) => ({ id, stop: stopOf(id) }));
    }),
  ]);
  const solves = runs.map(({ id }) => ({ id, stop: `cancel ${id}` }));
  const others = [...solves, ...more.flat()].filter(({ id }) => id !== own);
  if (others.length === 0) return;
  const lines = others.map(({ id, stop }) => `  ${id}: stop it with ${commandOf(stop, config)}`);
  const count = counted(others.length + unlisted, 'unfinished run');
  say(`${count} of this folder will go on as well:\n${someOf(lines, '\n')}`);
}

export function commandOf(words: string, config: string | undefined): string {
  return `temporal-conductor ${words}${config === undefined ? '' : ` --config ${config}`}`;
}

export function watchOf(id: string, config: string | undefined): string {
  return commandOf(`watch ${id}`, config);
}

/** After Ctrl-C. */
export async function sayHowToComeBack(session: Session, id: string): Promise<void> {
  const watch = watchOf(id, session.file);
  say(
    (await isWorkedOnElsewhere(session))
      ? `Interrupted. Another worker goes on with run ${id}; follow it with: ${watch}`
      : `Interrupted. Run ${id} is kept; come back to it with: ${watch}`,
  );
}

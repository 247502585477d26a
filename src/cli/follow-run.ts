import { setTimeout as pause } from 'node:timers/promises';
import { type Client, isGrpcServiceError } from '@temporalio/client';
import type { Retry } from '../client/conductor-client';
import { unfinishedOf } from '../client/list-runs';
import { durationMs } from '../config/duration';
import { someOf } from '../config/errors';
import { reasonOf } from '../errors';
import type { Say } from '../local/configured-server';
import type { SolveResult } from '../protocol/solve';
import { counted, explainStop, howToApprove } from '../trace/describe';
import { addOns } from './add-ons';
import { PERSON_AT_TERMINAL, PlanQuestions } from './approval/ask-person';
import { EXIT, type ExitCode, exitCodeOf } from './ending';
import { startedRuns } from './find-run';
import type { WorkOptions } from './load-settings';
import { commandOf, isWorkedOnElsewhere } from './queues';
import type { Session } from './session';
import { isPersonHere, print, say, toJson } from './terminal';
import { follow, openView } from './view/follow';
import { lookOfRun } from './view/run-view';

export interface ShowOptions extends WorkOptions {
  readonly json?: boolean;
}

/** Shows a run to its end and prints its answer, or everything as JSON, on stdout; all else goes to stderr. */
export async function showRun(
  session: Session,
  id: string,
  interruption: AbortSignal,
  json = false,
): Promise<ExitCode> {
  const watch = watchOf(id, session.file);
  const result = await followRun(session, id, interruption).catch((error: unknown) => {
    throw new Error(`${reasonOf(error)}. Run ${id} is kept; come back to it with: ${watch}`, {
      cause: error,
    });
  });
  if (result === null || result === undefined) {
    await sayHowToComeBack(session, id);
    return EXIT.interrupted;
  }
  if ('left' in result) {
    say(`Left for later. Decide with: ${howToApprove(result.left)}; follow it with: ${watch}`);
    return EXIT.answered;
  }
  const { status, answer, error, stoppedBy } = result;
  if (json) await print(toJson(result));
  else if (answer !== null) await print(answer, { exact: true });
  if (error !== null) say(error.message);
  if (status === 'cancelled') say(`Run ${id} was cancelled.`);
  if (stoppedBy !== null) say(explainStop(stoppedBy, result).join('\n'));
  return exitCodeOf(result);
}

/** A retry waits for a second at least, so nothing is missed that a person would see. */
const RETRIES_MS = 1_000;

/** Shows a run on stderr until it has ended, or a plan of it was left waiting; null after Ctrl-C. */
async function followRun(
  session: Session,
  id: string,
  interruption: AbortSignal,
): Promise<SolveResult | { readonly left: string } | undefined | null> {
  const { conductor } = session;
  const isAsked = isPersonHere();
  const view = openView(process.stderr, lookOfRun(isAsked));
  const asking = { decider: conductor, whilePaused: view.whilePaused, person: PERSON_AT_TERMINAL };
  const questions = isAsked ? new PlanQuestions(asking) : null;
  let trace: SolveResult | undefined;
  let retries: readonly Retry[] = [];
  const show = (): void => {
    if (trace !== undefined) view.show({ trace, retries });
  };
  const lookForRetries = async (): Promise<void> => {
    retries = await conductor.retries(id);
    show();
  };
  // A look that fails is left out.
  const looking = setInterval(() => void lookForRetries().catch(() => undefined), RETRIES_MS);
  return follow<SolveResult, { readonly left: string }>(session, id, interruption, {
    states: followPatiently(session, id, say),
    aside: questions?.left,
    view: {
      show: (next) => {
        trace = next;
        show();
        questions?.consider(next);
      },
      close: () => {
        trace = undefined;
        clearInterval(looking);
        questions?.close();
        view.close();
      },
    },
  });
}

/** Names the runs, evaluations and nights that an earlier command of this folder left: our worker goes on with them. */
export async function sayResumed(session: Session, own?: string): Promise<void> {
  const { conductor, server, temporal, config, file } = session;
  if (!server.embedded || (await isWorkedOnElsewhere(session))) return;
  const { taskQueue } = config.temporal;
  const known = await startedRuns(server);
  const workflows = addOns.flatMap(({ workflowOf }) => workflowOf?.(config) ?? []);
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
  const lines = others.map(({ id, stop }) => `  ${id}: stop it with ${commandOf(stop, file)}`);
  const count = counted(others.length + unlisted, 'unfinished run');
  say(`${count} of this folder will go on as well:\n${someOf(lines, '\n')}`);
}

export function watchOf(id: string, file: string | undefined): string {
  return commandOf(`watch ${id}`, file);
}

/** After Ctrl-C. */
export async function sayHowToComeBack(session: Session, id: string): Promise<void> {
  const goesOn = await isWorkedOnElsewhere(session);
  const what = goesOn ? `Another worker goes on with run ${id}; follow` : `Run ${id} is kept; come back to`;
  say(`Interrupted. ${what} it with: ${watchOf(id, session.file)}`);
}

const AGAIN_MS = 1_000;
/** Between two looks whether the server is there, and how long one may take. */
const LOOK_MS = 5_000;

/**
 * The trace of a run as it grows, also when the server is away meanwhile, which is told.
 *
 * @param patience longer than a server takes to be started elsewhere, and shorter than a script should hang
 * @throws Error with the reason where it stays away
 */
export async function* followPatiently(
  { conductor, server: { address }, temporal }: Pick<Session, 'conductor' | 'server' | 'temporal'>,
  id: string,
  tell: Say,
  patience = '5m',
): AsyncGenerator<SolveResult> {
  let awaySince: number | null = null;
  for (;;) {
    const traces = conductor.watch(id);
    try {
      for (;;) {
        const next = await unlessSilent(traces.next(), temporal);
        if (awaySince !== null) tell(`Temporal at ${address} answers again.`);
        awaySince = null;
        if (next.done === true) return;
        yield next.value;
      }
    } catch (error) {
      const reason = reasonAway(error);
      if (awaySince === null)
        tell(`Temporal at ${address} does not answer (${reason}): waiting for it, ${patience} at most.`);
      awaySince ??= Date.now();
      if (Date.now() - awaySince > durationMs(patience)) {
        const what = `Temporal at ${address} has not answered for ${patience} (${reason})`;
        throw new Error(what, { cause: error });
      }
      await pause(AGAIN_MS);
    }
  }
}

class SilentError extends Error {}

/** A poll waits a minute for news, and minutes more on a connection whose other end has vanished. */
async function unlessSilent<Value>(news: Promise<Value>, { workflowService }: Client): Promise<Value> {
  const over = new AbortController();
  const look = async (): Promise<never> => {
    for (;;) {
      await pause(LOOK_MS, undefined, { signal: over.signal });
      const answer = workflowService.getSystemInfo({}).then(() => null, reasonAway);
      const late = pause(LOOK_MS, `nothing within ${LOOK_MS / 1000} s`, { signal: over.signal });
      const reason = await Promise.race([answer, late]);
      if (reason !== null) throw new SilentError(reason);
    }
  };
  try {
    return await Promise.race([news, look()]);
  } finally {
    over.abort();
  }
}

/**
 * gRPC's CANCELLED (so the native part says that a connection was closed, e.g. by a proxy whose server is away), UNKNOWN,
 * DEADLINE_EXCEEDED, RESOURCE_EXHAUSTED, ABORTED, INTERNAL and UNAVAILABLE: it may be otherwise next time.
 */
const PASSING: ReadonlySet<number> = new Set([1, 2, 4, 8, 10, 13, 14]);

/** @throws the error where it is no such one */
function reasonAway(error: unknown): string {
  if (error instanceof SilentError) return error.message;
  if (!isGrpcServiceError(error) || !PASSING.has(error.code)) throw error;
  return error.details === '' ? error.message : error.details;
}

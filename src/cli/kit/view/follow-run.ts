import { setTimeout as pause } from 'node:timers/promises';
import { type Client, isGrpcServiceError } from '@temporalio/client';
import { type LiveEvent, type Retry, streamRun, unfinishedOf } from '../../../client';
import { durationMs } from '../../../config/duration';
import { someOf } from '../../../config/errors';
import { reasonOf } from '../../../errors';
import { EVALUATE_WORKFLOW } from '../../../evaluation/definitions';
import type { Say } from '../../../local/configured-server';
import type { SolveResult } from '../../../protocol/solve';
import { counted, explainStop, howToApprove } from '../../../trace/describe';
import { TRAIN_WORKFLOW } from '../../../training/names';
import { PERSON_AT_TERMINAL, Questions } from './approval';
import { EXIT, type ExitCode, exitCodeOf } from '../ending';
import { startedRuns } from '../find-run';
import { LiveAnswer } from './live-answer';
import type { WorkOptions } from '../load-settings';
import { commandOf, isWorkedOnElsewhere } from '../queues';
import type { Session } from '../session';
import { isPersonHere, print, say, toJson } from '../terminal';
import { follow, isDrawn, openView } from './follow';
import { lookOfRun, TextsUnderWay } from './run-view';

export interface ShowOptions extends WorkOptions {
  readonly json?: boolean;
  /** Prints the answer while it is written. */
  readonly stream?: boolean;
}

/** Shows a run to its end and prints its answer, or everything as JSON, on stdout; all else goes to stderr. */
export async function showRun(
  session: Session,
  id: string,
  interruption: AbortSignal,
  options: ShowOptions = {},
): Promise<ExitCode> {
  const watch = watchOf(id, session.file);
  const result = await followRun(session, id, interruption, options).catch((error: unknown) => {
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
  await printResult(result, options, remedyOf(watch));
  const { status, error, stoppedBy } = result;
  if (error !== null) say(error.message);
  if (status === 'cancelled') say(`Run ${id} was cancelled.`);
  if (stoppedBy !== null) say(explainStop(stoppedBy, result).join('\n'));
  return exitCodeOf(result);
}

async function printResult(
  result: SolveResult,
  { json, stream }: ShowOptions,
  remedy: string,
): Promise<void> {
  if (json === true) await print(toJson(result), { remedy });
  else if (result.answer !== null && stream !== true) await print(result.answer, { exact: true, remedy });
}

/** What to do when an answer that is paid for could not be printed. */
function remedyOf(watch: string): string {
  return `the answer is kept; read it with: ${watch}`;
}

const FOR_EVER = new Promise<never>(() => undefined);

/** Shows a run on stderr until it ends, or until one of its plans is left for later; null after Ctrl-C. */
async function followRun(
  session: Session,
  id: string,
  interruption: AbortSignal,
  { stream = false }: ShowOptions,
): Promise<SolveResult | { readonly left: string } | undefined | null> {
  const { conductor, temporal: client } = session;
  const isAsked = isPersonHere();
  const view = openView(process.stderr, lookOfRun(isAsked));
  const live = stream
    ? new LiveAnswer(() => void view.whilePaused(() => FOR_EVER), remedyOf(watchOf(id, session.file)))
    : null;
  const whilePaused = (work: () => Promise<void>): Promise<void> => {
    const inView = (): Promise<void> => view.whilePaused(work);
    return live?.whilePaused(inView) ?? inView();
  };
  const asking = { decider: conductor, whilePaused, person: PERSON_AT_TERMINAL };
  const questions = isAsked ? new Questions(asking) : null;
  const texts = new TextsUnderWay();
  let trace: SolveResult | undefined;
  let retries: readonly Retry[] = [];
  let isClosed = false;
  const show = (): void => {
    if (trace !== undefined && !isClosed) view.show({ trace, retries, texts });
  };
  const watch = async function* (signal: AbortSignal): AsyncGenerator<SolveResult> {
    for await (const next of followPatiently(session, id, { tell: say, signal })) {
      trace = next;
      show();
      if (!isClosed) questions?.consider(next);
      yield next;
    }
  };
  const lookForRetries = async (): Promise<readonly Retry[]> => {
    retries = await conductor.retries(id);
    show();
    return retries;
  };
  // Plain lines do not show texts.
  const store = live !== null || isDrawn(process.stderr) ? session.store : null;
  const ended = await follow<LiveEvent, { readonly left: string }>(session, id, interruption, {
    states: streamRun({ id, client, watch, retries: lookForRetries, store }),
    aside: questions?.left,
    view: {
      show: (event) => {
        live?.take(event, trace);
        texts.take(event);
        show();
      },
      close: () => {
        isClosed = true;
        questions?.close();
        live?.close();
        view.close();
      },
    },
  });
  await live?.written;
  return ended == null || 'left' in ended ? ended : trace;
}

/** Lists the runs, evaluations and nights that an earlier command of this folder left, which our worker resumes. */
export async function sayResumed(session: Session, own?: string): Promise<void> {
  const { conductor, server, temporal, config, file } = session;
  if (!server.embedded || (await isWorkedOnElsewhere(session))) return;
  const { taskQueue } = config.temporal;
  const known = await startedRuns(server);
  const [{ runs, unlisted }, evaluations, nights = []] = await Promise.all([
    conductor.list({ ended: 0, taskQueue, known }),
    unfinishedOf(temporal, EVALUATE_WORKFLOW, taskQueue),
    config.training && unfinishedOf(temporal, TRAIN_WORKFLOW, taskQueue),
  ]);
  const others = [...runs.map(({ id }) => id), ...evaluations, ...nights].filter((id) => id !== own);
  if (others.length === 0) return;
  const lines = others.map((id) => {
    const stop = nights.includes(id) ? `train stop ${id.replace(/^train-/, '--run ')}` : `cancel ${id}`;
    return `  ${id}: stop it with ${commandOf(stop, file)}`;
  });
  const count = counted(others.length + unlisted, 'unfinished run');
  say(`${count} of this folder will go on as well:\n${someOf(lines, '\n')}`);
}

export function watchOf(id: string, file: string | undefined): string {
  return commandOf(`watch ${id}`, file);
}

/** Says after Ctrl-C how to come back to the run. */
export async function sayHowToComeBack(session: Session, id: string): Promise<void> {
  const goesOn = await isWorkedOnElsewhere(session);
  const what = goesOn ? `Another worker goes on with run ${id}; follow` : `Run ${id} is kept; come back to`;
  say(`Interrupted. ${what} it with: ${watchOf(id, session.file)}`);
}

const AGAIN_MS = 1_000;
/** Interval between two checks of the server, and the timeout of one. */
const LOOK_MS = 5_000;

/**
 * Yields the trace of a run as it grows; if the server is unavailable meanwhile, says so and waits.
 *
 * @param options `patience`: longer than a restart of the server elsewhere takes, shorter than a script should hang;
 *   `signal`: ends a wait for news at once, with an error
 * @throws Error with the reason if the server stays unavailable
 */
export async function* followPatiently(
  { conductor, server: { address }, temporal }: Pick<Session, 'conductor' | 'server' | 'temporal'>,
  id: string,
  { tell, patience = '5m', signal }: { tell: Say; patience?: string; signal?: AbortSignal },
): AsyncGenerator<SolveResult> {
  let awaySince = null as number | null;
  const noteAbsence = (error: unknown): void => {
    const reason = reasonAway(error);
    if (awaySince === null)
      tell(`Temporal at ${address} does not answer (${reason}): waiting for it, ${patience} at most.`);
    awaySince ??= Date.now();
    if (Date.now() - awaySince <= durationMs(patience)) return;
    const what = `Temporal at ${address} has not answered for ${patience} (${reason})`;
    throw new Error(what, { cause: error });
  };
  for (;;) {
    const traces = conductor.watch(id, signal);
    try {
      for (;;) {
        const next = await unlessSilent(traces.next(), temporal);
        if (awaySince !== null) tell(`Temporal at ${address} answers again.`);
        awaySince = null;
        if (next.done === true) return;
        yield next.value;
      }
    } catch (error) {
      if (signal?.aborted === true) throw error;
      noteAbsence(error);
      await pause(AGAIN_MS, null, { signal });
    }
  }
}

class SilentError extends Error {}

/** Awaits news, and checks the server meanwhile: a poll takes a minute, and minutes more on a dead connection. */
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
 * Transient gRPC codes: CANCELLED (from the native core if a connection was closed, e.g. by a proxy without a server),
 * UNKNOWN, DEADLINE_EXCEEDED, RESOURCE_EXHAUSTED, ABORTED, INTERNAL and UNAVAILABLE.
 */
const PASSING: ReadonlySet<number> = new Set([1, 2, 4, 8, 10, 13, 14]);

/** @throws the error if it is not transient */
function reasonAway(error: unknown): string {
  if (error instanceof SilentError) return error.message;
  if (!isGrpcServiceError(error) || !PASSING.has(error.code)) throw error;
  return error.details === '' ? error.message : error.details;
}

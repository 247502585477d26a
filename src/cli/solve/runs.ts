import { describeRun, type ListedRun, type ListOptions, type RunList, statusOf } from '../../client';
import { UsageError } from '../../errors';
import type { SolveResult } from '../../protocol/solve';
import {
  counted,
  describeAge,
  describeCost,
  describeDuration,
  MARKS,
  type StepState,
} from '../../trace/describe';
import { headLine, plainLine, strokeOf, wrapped } from '../../trace/lines';
import { renderTraceMarkdown } from '../../trace/markdown';
import { renderMermaid } from '../../trace/mermaid';
import { renderTree } from '../../trace/tree';
import { EXIT, type ExitCode, listenForInterruption } from '../kit/ending';
import { queueListed, startedRuns, withRun } from '../kit/find-run';
import { sayHowToComeBack, sayResumed, showRun, type ShowOptions } from '../kit/view/follow-run';
import { whileWatching } from '../kit/queues';
import { loadSettings, type WorkOptions } from '../kit/load-settings';
import { type Session, withSession } from '../kit/session';
import { columnsOf, paintFor, print, say, toJson } from '../kit/terminal';
import type { ViewFrame } from '../kit/view/follow';

/** `watch`: follows a run to its end. */
export function watch(given: string, options: ShowOptions): Promise<ExitCode> {
  const interruption = listenForInterruption();
  return withRun(given, options, 'follow', async (session, id) => {
    await sayResumed(session, id);
    return showRun(session, id, interruption, options);
  });
}

const FORMATS = {
  tree: (trace: SolveResult): string =>
    renderTree(trace, { paint: paintFor(process.stdout), columns: columnsOf(process.stdout) }),
  json: toJson,
  mermaid: renderMermaid,
  markdown: renderTraceMarkdown,
} as const;

interface TraceOptions extends WorkOptions {
  readonly format: keyof typeof FORMATS;
}

/** `trace`: prints the current trace of a run, running or ended. */
export function trace(given: string, options: TraceOptions): Promise<ExitCode> {
  return withRun(given, options, 'look', async ({ conductor }, id) => {
    await print(FORMATS[options.format](await conductor.trace(id)), { painted: options.format === 'tree' });
    return EXIT.answered;
  });
}

/** `cancel`: stops a run, and waits until it has ended. */
export function cancel(given: string, options: WorkOptions): Promise<ExitCode> {
  const interruption = listenForInterruption();
  return withRun(given, options, 'follow', async (session, id) => {
    await sayResumed(session, id);
    const code = await whileWatching(session, id, interruption, cancelAndWait(session, id));
    if (code === undefined) await sayHowToComeBack(session, id);
    return code ?? EXIT.interrupted;
  });
}

/** Cancels a run and waits for its end, as the server tells it: texts of its trace may be lost, or encrypted. */
async function cancelAndWait({ conductor, temporal }: Session, id: string): Promise<ExitCode> {
  const before = await statusNow(temporal, id);
  if (before !== 'running') {
    say(`Run ${id} had already ended: ${before}.`);
    return EXIT.failed;
  }
  await conductor.cancel(id);
  say(`Asked run ${id} to stop …`);
  await temporal.workflow
    .getHandle(id)
    .result()
    .catch(() => undefined);
  const status = await statusNow(temporal, id);
  if (status === 'running') {
    const remedy = `see what became of it with "temporal-conductor trace ${id}"`;
    throw new Error(`Temporal stopped reporting run ${id} before it ended: ${remedy}`);
  }
  const isCancelled = status === 'cancelled';
  say(isCancelled ? `Run ${id} is cancelled.` : `Run ${id} ended before it could be cancelled: ${status}.`);
  return isCancelled ? EXIT.answered : EXIT.failed;
}

async function statusNow(temporal: Session['temporal'], id: string): Promise<SolveResult['status']> {
  const run = await describeRun(temporal, id);
  if (run !== null) return statusOf(run);
  throw new UsageError(`run ${id} is gone: Temporal has removed it, as its retention is over`);
}

/** `list`: prints unfinished runs, and the last ended ones. */
export async function printRuns(
  options: ShowOptions & Pick<ListOptions, 'state' | 'where'> & { readonly limit: number },
): Promise<ExitCode> {
  const { limit, state, where, json } = options;
  return withSession(await loadSettings(options), options, { role: 'look', used: true }, async (session) => {
    const { conductor, server } = session;
    const known = await startedRuns(server);
    const found = await conductor.list({
      ended: limit,
      state,
      where,
      taskQueue: queueListed(session),
      known,
    });
    if (json === true) await print(toJson(found));
    else if (found.runs.length === 0)
      say(
        `No ${state === undefined ? 'runs' : `${state} runs`} in namespace ${server.namespace} at ${server.address}.`,
      );
    else {
      const look = { paint: paintFor(process.stdout), columns: columnsOf(process.stdout), now: Date.now() };
      await print(renderList(found, look), { painted: true });
      for (const line of explain(found)) say(line);
    }
    return EXIT.answered;
  });
}

type Look = Pick<ViewFrame, 'paint' | 'now'> & { readonly columns?: number | undefined };

const INDENT = '  ';

/** Renders each run: id, state, cost and age, as much of its question as fits on a line, and its problems. */
export function renderList({ runs }: RunList, { paint, columns = 160, now }: Look): string {
  const room = columns - INDENT.length;
  const lines = runs.flatMap((run) => {
    const age = `${describeAge(now - Date.parse(run.startedAt))} ago`;
    const took = run.endedAt === null ? '' : `took ${describeDuration(run.startedAt, run.endedAt)}`;
    const cost = run.costUsd === null ? 'cost unknown' : describeCost({ ...run, costUsd: run.costUsd });
    const [first = '', ...rest] = headLine(paint, run.id, [stateOf(run), cost, took, age])(room);
    const question = run.question ?? 'cannot be read here:';
    const below = [plainLine(question), ...run.problems.map(wrapped)].flatMap((draw) => draw(room));
    const state = markOf(run);
    const head = `${strokeOf(state, paint)(MARKS[state])} ${first}`;
    return [head, ...[...rest, ...below].map((line) => INDENT + line)];
  });
  return lines.join('\n');
}

function stateOf({ status, waitsFor, hasWorker, question, problems }: ListedRun): string {
  if (status === 'completed' && question !== null && problems.length > 0) return 'completed, degraded';
  if (status !== 'running') return status;
  if (waitsFor !== null) return `waits for ${waitsFor}`;
  return hasWorker === true ? 'running' : 'unfinished';
}

function markOf(run: ListedRun): StepState {
  if (run.status === 'completed') return 'done';
  if (run.status !== 'running') return 'failed';
  return stateOf(run) === 'running' ? 'running' : 'waiting';
}

/** Returns advice about runs that do not continue by themselves. */
function explain({ runs, unlisted }: RunList): string[] {
  const states = runs.map(stateOf);
  const lines = [
    unlisted > 0 && `${counted(unlisted, 'older run')} more have not ended.`,
    states.includes('waits for approval') &&
      'To let a plan run, or a tool be called: temporal-conductor approve ID',
    states.includes('unfinished') &&
      'Unfinished: no worker is running it. To finish it: temporal-conductor watch ID; to end it: temporal-conductor cancel ID',
  ].filter((line) => line !== false);
  return lines.length === 0 ? [] : ['', ...lines];
}

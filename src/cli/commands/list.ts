import type { ListedRun, RunList } from '../../client/list-runs';
import { counted, describeAge, describeCost, MARKS, type StepState } from '../../trace/describe';
import { headLine, type Paint, plainLine, strokeOf, wrapped } from '../../trace/lines';
import { EXIT, type ExitCode } from '../exit-code';
import { queueListed } from '../find-run';
import { withSession } from '../session';
import { loadSettings, type WorkOptions } from '../load-settings';
import { startedRuns } from '../started-runs';
import { columnsOf, paintFor, print, say, toJson } from '../terminal';

interface ListOptions extends WorkOptions {
  /** How many runs that have ended. */
  readonly limit: number;
  readonly json?: boolean;
}

/** `list`: runs that have not ended, and the last ones that have. */
export async function list(options: ListOptions): Promise<ExitCode> {
  const { config: file, limit, json } = options;
  return withSession(await loadSettings(options), { file, role: 'look', used: true }, async (session) => {
    const { conductor, server } = session;
    const known = await startedRuns(server);
    const found = await conductor.list({ ended: limit, taskQueue: queueListed(session), known });
    if (json === true) await print(toJson(found));
    else if (found.runs.length === 0) say(`No runs in namespace ${server.namespace} at ${server.address}.`);
    else {
      const look = { paint: paintFor(process.stdout), columns: columnsOf(process.stdout), now: Date.now() };
      await print(renderList(found, look), { painted: true });
      for (const line of explain(found)) say(line);
    }
    return EXIT.answered;
  });
}

interface Look {
  readonly paint: Paint;
  readonly columns?: number;
  readonly now: number;
}

const INDENT = '  ';

/** A run's id with state, cost and age, as much of its question as fits a line, and what went wrong. */
export function renderList({ runs }: RunList, { paint, columns = 160, now }: Look): string {
  const room = columns - INDENT.length;
  return runs
    .flatMap((run) => {
      const age = `${describeAge(now - Date.parse(run.startedAt))} ago`;
      const cost = run.costUsd === null ? 'cost unknown' : describeCost({ ...run, costUsd: run.costUsd });
      const [first = '', ...rest] = headLine(paint, run.id, [stateOf(run), cost, age])(room);
      const question = plainLine(run.question ?? 'cannot be read here: the store or a key of another place')(
        room,
      );
      const problems = run.problems.flatMap((problem) => wrapped(problem)(room));
      const strokes = markOf(run);
      return [
        `${strokeOf(strokes, paint)(MARKS[strokes])} ${first}`,
        ...[...rest, ...question, ...problems].map((line) => INDENT + line),
      ];
    })
    .join('\n');
}

function stateOf({ status, waitsFor, hasWorker, problems }: ListedRun): string {
  if (status === 'completed' && problems.length > 0) return 'completed, degraded';
  if (status !== 'running') return status;
  if (waitsFor !== null) return `waits for ${waitsFor}`;
  return hasWorker === true ? 'running' : 'unfinished';
}

function markOf({ status, hasWorker, waitsFor }: ListedRun): StepState {
  if (status === 'completed') return 'done';
  if (status !== 'running') return 'failed';
  return hasWorker === true && waitsFor === null ? 'running' : 'waiting';
}

/** Advice about runs that do not continue by themselves. */
function explain({ runs, unlisted }: RunList): string[] {
  const states = runs.map(stateOf);
  const lines: string[] = [];
  if (unlisted > 0) lines.push(`${counted(unlisted, 'older run')} more have not ended.`);
  if (states.includes('waits for approval')) lines.push('To let a plan run: temporal-conductor approve ID');
  if (states.includes('unfinished')) {
    lines.push(
      'Unfinished: no worker is running it. To finish it: temporal-conductor watch ID; to end it: temporal-conductor cancel ID',
    );
  }
  return lines.length === 0 ? [] : ['', ...lines];
}

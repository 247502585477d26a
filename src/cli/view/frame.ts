import type { Retry } from '../../client/conductor-client';
import type { RoundTrace, SolveTrace, StepTrace } from '../../protocol/solve';
import { previewOf } from '../../protocol/text';
import {
  describeCost,
  describeDuration,
  describeEstimate,
  describePlan,
  describePlanning,
  describeSees,
  describeTokens,
  describeWorker,
  howToApprove,
  MARKS,
  stateOf,
  type StepState,
  whoStandsIn,
} from '../../trace/describe';
import { oneLine, type Paint, strokeOf, widthOf, wrap, wrapFacts } from '../../trace/lines';
import { isReview, roundsOf, waitingRuns } from '../../trace/run-tree';

export interface FrameOptions {
  readonly paint: Paint;
  readonly columns: number;
  /** ISO 8601: what running steps are timed by. */
  readonly now: string;
  /** The mark of what is under way; it turns with the time. */
  readonly spinner: string;
}

const WIDEST_NAME = 20;
const WAVE_COLUMNS = 8;
const TIME_COLUMNS = 9;
const CHILD_INDENT = 4;

/** One picture of the live view, a string a line. A step that a running child works on has its rounds below. */
export function drawFrame(trace: SolveTrace, retries: readonly Retry[], options: FrameOptions): string[] {
  const { paint, columns } = options;
  const { estimate, status, degraded } = trace;
  const state = degraded ? `${status}, degraded` : status;
  const whole = (text: string): string[] => wrap([text], columns);
  return [
    paint.strong(oneLine(previewOf(trace.question), columns)),
    // While money can still be saved.
    ...(estimate === undefined || status !== 'running'
      ? []
      : whole(`the plan comes to ${describeEstimate(estimate)}`).map(paint.faint)),
    ...roundsOf(trace).flatMap((round) => drawRound(trace, round, options)),
    ...whoStandsIn(trace).flatMap((line) => whole(`degraded: ${line}`).map(paint.bad)),
    ...waitingRuns(trace).flatMap((id) => whole(`waits for approval: ${howToApprove(id)}`).map(paint.busy)),
    ...retries.flatMap((retry) => whole(`↻ ${describeRetry(retry)}`).map(paint.busy)),
    ...wrapFacts([state, describeTokens(trace), describeCost(trace), trace.id], columns).map(paint.faint),
  ];
}

/** Why a call waits for another attempt. */
export function describeRetry({ attempt, reason }: Retry): string {
  return `attempt ${attempt - 1} failed, trying again: ${reason}`;
}

function drawRound(trace: SolveTrace, round: RoundTrace, options: FrameOptions): string[] {
  const { paint, columns } = options;
  const title = `round ${round.round + 1}${isReview(round) ? ': review' : ''}`;
  const header = round.round === 0 ? [] : [paint.strong(oneLine(title, columns))];
  if (round.plan === null || round.plan.steps.length === 0) return [...header, drawConductor(round, options)];
  const names = round.steps.map((step) => widthOf(nameOf(step)));
  const nameColumns = Math.min(WIDEST_NAME, Math.max(0, ...names));
  const byWave = [...round.steps].sort((a, b) => a.wave - b.wave || a.index - b.index);
  const lines = byWave.flatMap((step, position) => {
    const isFirst = byWave[position - 1]?.wave !== step.wave;
    const label = isFirst ? `wave ${step.wave + 1}` : '';
    const [first = '', ...rest] = drawStep(round, step, nameColumns, options);
    return [
      paint.faint(label.padEnd(WAVE_COLUMNS)) + first,
      ...rest.map((line) => ' '.repeat(WAVE_COLUMNS + 2) + line),
      ...drawChild(trace, step, options),
    ];
  });
  return [...header, ...lines];
}

function drawConductor(round: RoundTrace, { paint, columns, spinner }: FrameOptions): string {
  const isBusy = round.plan === null && round.decision === null;
  const state = isBusy ? 'running' : round.plan === null ? 'failed' : 'done';
  const mark = strokeOf(state, paint)(isBusy ? spinner : MARKS[state]);
  const text = isBusy ? describePlanning(round) : `the Conductor: ${describePlan(round)}`;
  return `${'plan'.padEnd(WAVE_COLUMNS)}${mark} ${oneLine(text, columns - WAVE_COLUMNS - 2)}`;
}

/** Once it has ended, its output says enough. */
function drawChild(trace: SolveTrace, step: StepTrace, options: FrameOptions): string[] {
  if (step.childId === null || stateOf(step) !== 'running') return [];
  const inside = { ...options, columns: options.columns - CHILD_INDENT };
  const lines = roundsOf(trace, step.childId).flatMap((round) => drawRound(trace, round, inside));
  return lines.map((line) => ' '.repeat(CHILD_INDENT) + line);
}

/** A step's line: its text is shortened, but not why it failed; with a long name or reason, several lines. */
function drawStep(round: RoundTrace, step: StepTrace, nameColumns: number, options: FrameOptions): string[] {
  const { paint, columns, now, spinner } = options;
  const state = stateOf(step);
  const mark = strokeOf(state, paint)(state === 'running' ? spinner : MARKS[state]);
  const time = step.startedAt === null ? '' : describeDuration(step.startedAt, step.endedAt, now);
  const [name, timed] = [nameOf(step).padEnd(nameColumns), time.padStart(TIME_COLUMNS)];
  const inside = columns - WAVE_COLUMNS - 2;
  const room = inside - widthOf(`${name} ${timed} `);
  const text = textOf(round, step, state);
  const isTooLong = room < 0 || (state === 'failed' && widthOf(text) > room);
  if (!isTooLong) return [`${mark} ${name} ${paint.faint(timed)} ${oneLine(text, room)}`.trimEnd()];
  const parts = [nameOf(step), time, state === 'failed' ? text : ''].filter((part) => part !== '');
  const [first = '', ...rest] = wrap(parts, inside);
  return [`${mark} ${first}`, ...rest];
}

function nameOf(step: StepTrace): string {
  return `${step.index + 1} ${describeWorker(step)}`;
}

/** The output or the reason why there is none; the task until then. */
function textOf({ plan }: RoundTrace, { index, output, error }: StepTrace, state: StepState): string {
  if (state === 'failed') return error?.message ?? '';
  if (state === 'done') return previewOf(output ?? '');
  const { subtask, sees } = plan?.steps[index] ?? { subtask: '', sees: [] };
  return sees.length === 0 ? subtask : `${subtask} (${describeSees(sees)})`;
}

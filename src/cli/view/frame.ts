import type { Retry } from '../../client/run-tree';
import type { RoundTrace, SolveTrace, StepTrace } from '../../protocol/solve';
import { previewOf } from '../../protocol/text';
import {
  describeCost,
  describeDuration,
  describeEstimate,
  describePlan,
  describeSees,
  describeTokens,
  describeWorker,
  howToApprove,
  MARKS,
  stateOf,
  type StepState,
} from '../../trace/describe';
import { oneLine, type Paint, widthOf } from '../../trace/lines';
import { isReview, roundsOf, waitingRuns } from '../../trace/run-tree';
import { describeRetry } from './changes';

/** What one picture of the live view is drawn with. */
export interface FrameOptions {
  readonly paint: Paint;
  readonly columns: number;
  /** ISO 8601: what running steps are timed by. */
  readonly now: string;
  /** The mark of what is under way; it turns with the time. */
  readonly spinner: string;
}

/** The longest worker name shown, in columns. */
const WIDEST_NAME = 20;
const WAVE_COLUMNS = 8;
const TIME_COLUMNS = 9;
const CHILD_INDENT = 4;

/**
 * One picture of the live view: question, waves of each round, below a step that is under way in a child the rounds of
 * that child, and what it has cost so far. A string a line.
 */
export function drawFrame(trace: SolveTrace, retries: readonly Retry[], options: FrameOptions): string[] {
  const { paint, columns } = options;
  const sums = [trace.status, describeTokens(trace), describeCost(trace), trace.id].join(' · ');
  return [
    paint.strong(oneLine(previewOf(trace.question), columns)),
    ...drawEstimate(trace, options),
    ...drawRounds(trace, trace.id, options),
    ...waitingRuns(trace).map((id) => drawWait(id, options)),
    ...retries.map((retry) => paint.busy(oneLine(`↻ ${describeRetry(retry)}`, columns))),
    paint.faint(oneLine(sums, columns)),
  ];
}

/** Of interest while money can still be saved. */
function drawEstimate({ estimate, status }: SolveTrace, { paint, columns }: FrameOptions): string[] {
  if (estimate === undefined || status !== 'running') return [];
  return [paint.faint(oneLine(`the plan comes to ${describeEstimate(estimate)}`, columns))];
}

function drawWait(id: string, { paint, columns }: FrameOptions): string {
  return paint.busy(oneLine(`waits for approval: ${howToApprove(id)}`, columns));
}

function drawRounds(trace: SolveTrace, id: string, options: FrameOptions): string[] {
  return roundsOf(trace, id).flatMap((round) => drawRound(trace, round, options));
}

function drawRound(trace: SolveTrace, round: RoundTrace, options: FrameOptions): string[] {
  const { paint, columns } = options;
  const title = `round ${round.round + 1}${isReview(round) ? ': review' : ''}`;
  const header = round.round === 0 ? [] : [paint.strong(oneLine(title, columns))];
  if (round.plan === null || round.plan.steps.length === 0) return [...header, drawConductor(round, options)];
  const names = round.steps.map((step) => widthOf(nameOf(step)));
  const nameColumns = Math.min(WIDEST_NAME, Math.floor(columns / 4), Math.max(0, ...names));
  const byWave = [...round.steps].sort((a, b) => a.wave - b.wave || a.index - b.index);
  const lines = byWave.flatMap((step, position) => {
    const isFirst = byWave[position - 1]?.wave !== step.wave;
    const label = isFirst ? `wave ${step.wave + 1}` : '';
    return [
      paint.faint(label.padEnd(WAVE_COLUMNS)) + drawStep(round, step, nameColumns, options),
      ...drawChild(trace, step, options),
    ];
  });
  return [...header, ...lines];
}

/** What the Conductor does, or has done without a step coming of it. */
function drawConductor(round: RoundTrace, { paint, columns, spinner }: FrameOptions): string {
  const isBusy = round.plan === null && round.decision === null;
  const doing = isReview(round) ? 'the Conductor is reviewing the answer' : 'the Conductor is writing a plan';
  const done = `the Conductor: ${describePlan(round)}`;
  const state = round.plan === null ? 'failed' : 'done';
  const mark = isBusy ? paint.busy(spinner) : strokeOf(state, paint)(MARKS[state]);
  const text = oneLine(isBusy ? doing : done, columns - WAVE_COLUMNS - 2);
  return `${'plan'.padEnd(WAVE_COLUMNS)}${mark} ${text}`;
}

/** Once it has ended, its output says enough. */
function drawChild(trace: SolveTrace, step: StepTrace, options: FrameOptions): string[] {
  if (step.childId === null || stateOf(step) !== 'running') return [];
  const inside = { ...options, columns: options.columns - CHILD_INDENT };
  return drawRounds(trace, step.childId, inside).map((line) => ' '.repeat(CHILD_INDENT) + line);
}

function drawStep(round: RoundTrace, step: StepTrace, nameColumns: number, options: FrameOptions): string {
  const { paint, columns, now, spinner } = options;
  const state = stateOf(step);
  const name = pad(oneLine(nameOf(step), nameColumns), nameColumns);
  const time = step.startedAt === null ? '' : describeDuration(step.startedAt, step.endedAt, now);
  const mark = state === 'running' ? spinner : MARKS[state];
  const room = columns - WAVE_COLUMNS - nameColumns - TIME_COLUMNS - 4;
  const text = oneLine(textOf(round, step, state), Math.max(0, room));
  return `${strokeOf(state, paint)(mark)} ${name} ${paint.faint(time.padStart(TIME_COLUMNS))} ${text}`.trimEnd();
}

function nameOf(step: StepTrace): string {
  return `${step.index + 1} ${describeWorker(step)}`;
}

/** What is most worth a line: the task until there is an output, or the reason why there is none. */
function textOf(round: RoundTrace, step: StepTrace, state: StepState): string {
  if (state === 'done') return step.output === null ? '' : previewOf(step.output);
  return state === 'failed' ? (step.error?.message ?? '') : taskOf(round, step);
}

function taskOf({ plan }: RoundTrace, { index }: StepTrace): string {
  const planned = plan?.steps[index];
  if (planned === undefined) return '';
  const sees = describeSees(planned.sees);
  return sees === '' ? planned.subtask : `${planned.subtask} (${sees})`;
}

function strokeOf(state: StepState, paint: Paint): (text: string) => string {
  return { done: paint.good, failed: paint.bad, running: paint.busy, waiting: paint.faint }[state];
}

function pad(text: string, columns: number): string {
  return text + ' '.repeat(Math.max(0, columns - widthOf(text)));
}

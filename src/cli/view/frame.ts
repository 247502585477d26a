import type { Retry } from '../../client/conductor-client';
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
  joinFacts,
  MARKS,
  stateOf,
  type StepState,
} from '../../trace/describe';
import { oneLine, type Paint, strokeOf, widthOf } from '../../trace/lines';
import { isReview, roundsOf, waitingRuns } from '../../trace/run-tree';
import { describeRetry } from './changes';

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
  const { estimate, status } = trace;
  const sums = joinFacts(status, describeTokens(trace), describeCost(trace), trace.id);
  return [
    paint.strong(oneLine(previewOf(trace.question), columns)),
    // While money can still be saved.
    ...(estimate === undefined || status !== 'running'
      ? []
      : [paint.faint(oneLine(`the plan comes to ${describeEstimate(estimate)}`, columns))]),
    ...roundsOf(trace).flatMap((round) => drawRound(trace, round, options)),
    ...waitingRuns(trace).map((id) =>
      paint.busy(oneLine(`waits for approval: ${howToApprove(id)}`, columns)),
    ),
    ...retries.map((retry) => paint.busy(oneLine(`↻ ${describeRetry(retry)}`, columns))),
    paint.faint(oneLine(sums, columns)),
  ];
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

/** The Conductor's line of a round that has no steps. */
function drawConductor(round: RoundTrace, { paint, columns, spinner }: FrameOptions): string {
  const isBusy = round.plan === null && round.decision === null;
  const doing = isReview(round) ? ' is reviewing the answer' : ' is writing a plan';
  const state = isBusy ? 'running' : round.plan === null ? 'failed' : 'done';
  const mark = strokeOf(state, paint)(isBusy ? spinner : MARKS[state]);
  const text = `the Conductor${isBusy ? doing : `: ${describePlan(round)}`}`;
  return `${'plan'.padEnd(WAVE_COLUMNS)}${mark} ${oneLine(text, columns - WAVE_COLUMNS - 2)}`;
}

/** Once it has ended, its output says enough. */
function drawChild(trace: SolveTrace, step: StepTrace, options: FrameOptions): string[] {
  if (step.childId === null || stateOf(step) !== 'running') return [];
  const inside = { ...options, columns: options.columns - CHILD_INDENT };
  const lines = roundsOf(trace, step.childId).flatMap((round) => drawRound(trace, round, inside));
  return lines.map((line) => ' '.repeat(CHILD_INDENT) + line);
}

function drawStep(round: RoundTrace, step: StepTrace, nameColumns: number, options: FrameOptions): string {
  const { paint, columns, now, spinner } = options;
  const state = stateOf(step);
  const name = oneLine(nameOf(step), nameColumns);
  const gap = ' '.repeat(Math.max(0, nameColumns - widthOf(name)));
  const time = step.startedAt === null ? '' : describeDuration(step.startedAt, step.endedAt, now);
  const mark = state === 'running' ? spinner : MARKS[state];
  const room = columns - WAVE_COLUMNS - nameColumns - TIME_COLUMNS - 4;
  const text = oneLine(textOf(round, step, state), Math.max(0, room));
  return `${strokeOf(state, paint)(mark)} ${name}${gap} ${paint.faint(time.padStart(TIME_COLUMNS))} ${text}`.trimEnd();
}

function nameOf(step: StepTrace): string {
  return `${step.index + 1} ${describeWorker(step)}`;
}

/** The output or the reason why there is none; the task until then. */
function textOf({ plan }: RoundTrace, { index, output, error }: StepTrace, state: StepState): string {
  if (state === 'done') return output === null ? '' : previewOf(output);
  if (state === 'failed') return error?.message ?? '';
  const planned = plan?.steps[index];
  if (planned === undefined) return '';
  const sees = describeSees(planned.sees);
  return sees === '' ? planned.subtask : `${planned.subtask} (${sees})`;
}

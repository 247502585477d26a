import type { Retry } from '../../client/retries';
import type { RoundTrace, SolveTrace, StepTrace } from '../../protocol/solve';
import { previewOf } from '../../protocol/text';
import { describeCost, describeTokens } from '../../trace/describe';
import { describeRetry } from './changes';
import { oneLine, widthOf } from '../../trace/one-line';
import type { Paint } from '../../trace/paint';
import {
  describeDuration,
  describeSees,
  describeWorker,
  MARKS,
  stateOf,
  type StepState,
} from '../../trace/step-state';

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

/** One picture of the live view: question, waves of each round, and what it has cost so far. A string a line. */
export function drawFrame(trace: SolveTrace, retries: readonly Retry[], options: FrameOptions): string[] {
  const { paint, columns } = options;
  const sums = [trace.status, describeTokens(trace), describeCost(trace), trace.id].join(' · ');
  return [
    paint.strong(oneLine(previewOf(trace.question), columns)),
    ...trace.rounds.flatMap((round) => drawRound(round, options)),
    ...retries.map((retry) => paint.busy(oneLine(`↻ ${describeRetry(retry)}`, columns))),
    paint.faint(oneLine(sums, columns)),
  ];
}

function drawRound(round: RoundTrace, options: FrameOptions): string[] {
  const { paint, columns, spinner } = options;
  const header = round.round === 0 ? [] : [paint.strong(`round ${round.round + 1}`)];
  if (round.plan === null) {
    const text = oneLine('the Conductor is writing a plan', columns - WAVE_COLUMNS - 2);
    return [...header, `${'plan'.padEnd(WAVE_COLUMNS)}${paint.busy(spinner)} ${text}`];
  }
  const names = round.steps.map((step) => widthOf(nameOf(step)));
  const nameColumns = Math.min(WIDEST_NAME, Math.floor(columns / 4), Math.max(0, ...names));
  const byWave = [...round.steps].sort((a, b) => a.wave - b.wave || a.index - b.index);
  const lines = byWave.map((step, position) => {
    const isFirst = byWave[position - 1]?.wave !== step.wave;
    const label = isFirst ? `wave ${step.wave + 1}` : '';
    return paint.faint(label.padEnd(WAVE_COLUMNS)) + drawStep(round, step, nameColumns, options);
  });
  return [...header, ...lines];
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

import type { LiveEvent, Retry } from '../../../client';
import type { RoundTrace, SolveTrace, StepTrace } from '../../../protocol/solve';
import { previewOf } from '../../../protocol/text';
import {
  counted,
  CUT,
  describeCost,
  describeDuration,
  describeEnd,
  describeEstimate,
  describePlan,
  describePlanning,
  describeRunTime,
  describeSees,
  describeSteps,
  describeTokens,
  describeWorker,
  isKept,
  joinFacts,
  MARKS,
  stepStateOf,
  type StepState,
  whoStandsIn,
} from '../../../trace/describe';
import { oneLine, strokeOf, widthOf, wrap, wrapFacts } from '../../../trace/lines';
import { isReview, isUnbegun, pathOf, roundsOf } from '../../../trace/run-tree';
import { isUnderWay, toolCallsOf } from '../../../trace/tool-calls';
import { describeToolCall } from '../../../trace/tool-lines';
import { waitsOf } from '../../../trace/waits';
import type { ViewFrame, Look } from './follow';

/** Current state of a run. */
interface RunNow {
  readonly trace: SolveTrace;
  readonly retries: readonly Retry[];
  readonly texts: TextsUnderWay;
}

/** Returns how a run is shown. @param isAsked whether a person is asked about waiting plans */
export function lookOfRun(isAsked: boolean): Look<RunNow> {
  const toldOf = (trace: SolveTrace): SolveTrace => (isAsked ? withoutUnbegun(trace) : trace);
  return {
    draw: ({ trace, retries, texts }, frame) =>
      drawFrame(trace, trace.status === 'running' ? retries : [], { ...frame, texts }),
    tell: (before, after) => {
      // A waiting plan was shown in full to the person who is asked.
      const seen = before && (before.trace.waitsFor === undefined ? toldOf(before.trace) : before.trace);
      const known = before?.retries.map(describeRetry) ?? [];
      const retries = new Set(after.retries.map(describeRetry).filter((line) => !known.includes(line)));
      return [...describeChanges(seen, toldOf(after.trace)), ...retries];
    },
  };
}

/** Place of a text: a step, or the plan of a round. */
interface TextPlace {
  readonly childId: string | null;
  readonly round: number;
  readonly step?: number;
}

const KEPT_CHARACTERS = 400;

/** Last characters written for each plan and by each running step, of its thoughts until its text begins. */
export class TextsUnderWay {
  private readonly ends = new Map<string, string>();
  private readonly thinking = new Set<string>();

  take(event: LiveEvent): void {
    if (isVoid(event)) this.drop(nameOfPlace(event));
    if (event.kind !== 'text' && event.kind !== 'thoughts' && event.kind !== 'planning') return;
    const name = nameOfPlace(event);
    if (event.kind === 'text' && this.thinking.has(name)) this.drop(name);
    if (event.kind === 'thoughts') this.thinking.add(name);
    const text = (this.ends.get(name) ?? '') + event.delta;
    // A cut shifts all line ends, so it is made rarely; it drops what is left of a split word or character.
    const isLong = text.length > 2 * KEPT_CHARACTERS;
    const end = isLong ? text.slice(-KEPT_CHARACTERS).replace(/^(?:\S*\s|[\uDC00-\uDFFF])/, '') : text;
    this.ends.set(name, end);
  }

  private drop(name: string): void {
    this.ends.delete(name);
    this.thinking.delete(name);
  }

  of(place: TextPlace): string {
    const name = nameOfPlace(place);
    return `${this.thinking.has(name) ? 'thinks: ' : ''}${this.ends.get(name) ?? ''}`;
  }
}

/** Whether what was written at a place is void, or known in full. */
function isVoid(event: LiveEvent): event is Extract<LiveEvent, TextPlace> {
  if (event.kind === 'planning') return event.offset === 0;
  return event.kind === 'restarted' || event.kind === 'stepEnded' || event.kind === 'planned';
}

function nameOfPlace({ childId, round, step }: TextPlace): string {
  return [childId ?? '', round, ...(step === undefined ? [] : [step])].join(' ');
}

/** Hides a plan that may need approval: a person is shown it when asked, else it appears once its first step begins. */
function withoutUnbegun(trace: SolveTrace): SolveTrace {
  if (trace.status !== 'running') return trace;
  const rounds = trace.rounds.map((round) =>
    isUnbegun(round) ? { ...round, plan: null, steps: [] } : round,
  );
  const isOwn = trace.rounds.some((round) => round.childId === null && isUnbegun(round));
  return { ...trace, rounds, estimate: isOwn ? undefined : trace.estimate };
}

/** Describes what changed since the last look at a run, one plain line per event, for logs and pipes. */
export function describeChanges(before: SolveTrace | null, after: SolveTrace): string[] {
  const known = new Set(before === null ? [] : describeRun(before));
  return describeRun(after).filter((line) => !known.has(line));
}

function describeRun(trace: SolveTrace): string[] {
  const { id, question, rounds, status } = trace;
  return [
    `${id}: ${clip(previewOf(question))}`,
    ...rounds.flatMap((round) => describeRound(trace, round).map((line) => pathOf(trace, round) + line)),
    ...whoStandsIn(trace).map((line) => `degraded: ${line}`),
    ...waitsOf(trace).map(({ run, what, how }) => `${run} waits for approval of ${what}: ${how}`),
    ...(status === 'running' ? [] : [describeEnd(trace)]),
  ];
}

function describeRound({ estimate }: SolveTrace, round: RoundTrace): string[] {
  const { plan, steps, decision, childId } = round;
  const lines = [describePlanning(round)];
  if (plan?.steps.length === 0) lines.push('the Conductor accepts the answer');
  else if (plan !== null) {
    const waves = counted(new Set(steps.map(({ wave }) => wave)).size, 'wave');
    lines.push(`plan: ${counted(plan.steps.length, 'step')} in ${waves}`);
    lines.push(...describeSteps(plan, clip));
  }
  if (estimate !== undefined && childId === null && plan !== null)
    lines.push(`the plan comes to ${describeEstimate(estimate)}`);
  lines.push(...steps.flatMap(describeStep));
  if (decision === 'failed') lines.push('this produced no answer');
  return lines;
}

function describeStep(step: StepTrace): string[] {
  const [calls, progress] = [describeToolCalls(step), describeProgress(step)];
  return stepStateOf(step) === 'running' ? [...progress, ...calls] : [...calls, ...progress];
}

/** Numbers the calls of tools, so that one like another is told as well. */
function describeToolCalls(step: StepTrace): string[] {
  return toolCallsOf(step).flatMap((call, index) => {
    const { worker, outcome, startedAt } = call;
    if (outcome === null && startedAt === null) return [];
    const who = `step ${step.index + 1} (${worker}), call ${index + 1} of a tool`;
    // Says no time: the history's differs from the run's own, and the line would be told twice.
    return [`${who}: ${clip(describeToolCall({ ...call, endedAt: null }, PREVIEW_COLUMNS))}`];
  });
}

function describeProgress(step: StepTrace): string[] {
  const { index, startedAt, endedAt, output, error } = step;
  const state = stepStateOf(step);
  const who = `step ${index + 1} (${describeWorker(step)})`;
  if (state === 'waiting') return [];
  if (state === 'running') return [`${who} started`];
  const time = startedAt === null ? '' : ` in ${describeDuration(startedAt, endedAt)}`;
  if (error !== null) return [`${who} failed${time}: ${error.message}`];
  return [`${who} ${isKept(step) ? 'kept' : `done${time}`}: ${clip(previewOf(output ?? ''))}`];
}

const PREVIEW_COLUMNS = 120;

function clip(text: string): string {
  return oneLine(text, PREVIEW_COLUMNS);
}

const WIDEST_NAME = 20;
const WAVE_COLUMNS = 8;
const TIME_COLUMNS = 9;
const CHILD_INDENT = 4;

interface RunFrame extends ViewFrame {
  readonly texts?: TextsUnderWay;
}

/** Draws one frame of the live view, one string per line. The rounds of a running child are below its step. */
export function drawFrame(trace: SolveTrace, retries: readonly Retry[], frame: RunFrame): string[] {
  const { paint, columns } = frame;
  const { estimate, status, degraded, answerCut } = trace;
  const state = joinFacts(degraded ? `${status}, degraded` : status, answerCut && CUT);
  const took = describeRunTime(trace, new Date(frame.now).toISOString());
  // The estimate helps only while money can still be saved.
  const ahead = status === 'running' ? estimate : undefined;
  const whole = (text: string): string[] => wrap([text], columns);
  return [
    paint.strong(oneLine(previewOf(trace.question), columns)),
    ...(ahead === undefined ? [] : whole(`the plan comes to ${describeEstimate(ahead)}`).map(paint.faint)),
    ...roundsOf(trace).flatMap((round) => drawRound(trace, round, frame)),
    ...whoStandsIn(trace).flatMap((line) => whole(`degraded: ${line}`).map(paint.bad)),
    ...waitsOf(trace).flatMap(({ what, how }) =>
      whole(`waits for approval of ${what}: ${how}`).map(paint.busy),
    ),
    ...retries.flatMap((retry) => whole(`↻ ${describeRetry(retry)}`).map(paint.busy)),
    ...wrapFacts([state, took, describeTokens(trace), describeCost(trace), trace.id], columns).map(
      paint.faint,
    ),
  ];
}

function describeRetry({ attempt, reason, waitsFor }: Retry): string {
  if (waitsFor === 'pause') return reason;
  if (waitsFor === 'store') return `waits for the store: ${reason}`;
  return `attempt ${attempt - 1} failed, trying again: ${reason}`;
}

function drawRound(trace: SolveTrace, round: RoundTrace, frame: RunFrame): string[] {
  const { paint, columns } = frame;
  const title = `round ${round.round + 1}${isReview(round) ? ': review' : ''}`;
  const header = round.round === 0 ? [] : [paint.strong(oneLine(title, columns))];
  if (round.plan === null || round.plan.steps.length === 0)
    return [...header, drawConductor(round, frame), ...drawPlanText(round, frame)];
  const names = round.steps.map((step) => widthOf(nameOfStep(step)));
  const nameColumns = Math.min(WIDEST_NAME, Math.max(0, ...names));
  const byWave = [...round.steps].sort((a, b) => a.wave - b.wave || a.index - b.index);
  const lines = byWave.flatMap((step, position) => {
    const isFirst = byWave[position - 1]?.wave !== step.wave;
    const label = isFirst ? `wave ${step.wave + 1}` : '';
    const [first = '', ...rest] = drawStep(round, step, nameColumns, frame);
    return [
      paint.faint(label.padEnd(WAVE_COLUMNS)) + first,
      ...[...rest, ...drawText(round, step, frame)].map((line) => ' '.repeat(WAVE_COLUMNS + 2) + line),
      ...drawChild(trace, step, frame),
    ];
  });
  return [...header, ...lines];
}

function drawConductor(round: RoundTrace, { paint, columns, spinner, now }: ViewFrame): string {
  const isBusy = round.plan === null && round.decision === null;
  const state = isBusy ? 'running' : round.plan === null ? 'failed' : 'done';
  const mark = strokeOf(state, paint)(isBusy ? spinner : MARKS[state]);
  const { startedAt } = round.planning ?? {};
  const clock = startedAt && describeDuration(startedAt, null, new Date(now).toISOString());
  const text = isBusy ? joinFacts(describePlanning(round), clock) : `the Conductor: ${describePlan(round)}`;
  return `${'plan'.padEnd(WAVE_COLUMNS)}${mark} ${oneLine(text, columns - WAVE_COLUMNS - 2)}`;
}

/** Draws a running child's rounds; once it has ended, its output says enough. */
function drawChild(trace: SolveTrace, step: StepTrace, frame: RunFrame): string[] {
  if (step.childId === null || stepStateOf(step) !== 'running') return [];
  const inside = { ...frame, columns: frame.columns - CHILD_INDENT };
  const lines = roundsOf(trace, step.childId).flatMap((round) => drawRound(trace, round, inside));
  return lines.map((line) => ' '.repeat(CHILD_INDENT) + line);
}

/** Draws a step, its text clipped to one line; a long name or the reason of a failure takes several lines. */
function drawStep(round: RoundTrace, step: StepTrace, nameColumns: number, frame: ViewFrame): string[] {
  const { paint, columns, now, spinner } = frame;
  const state = stepStateOf(step);
  const mark = strokeOf(state, paint)(state === 'running' ? spinner : MARKS[state]);
  const { startedAt, endedAt } = step;
  const time = startedAt === null ? '' : describeDuration(startedAt, endedAt, new Date(now).toISOString());
  const [name, timed] = [nameOfStep(step).padEnd(nameColumns), time.padStart(TIME_COLUMNS)];
  const inside = columns - WAVE_COLUMNS - 2;
  const room = inside - widthOf(`${name} ${timed} `);
  const text = textOfStep(round, step, state);
  const isTooLong = room < 0 || (state === 'failed' && widthOf(text) > room);
  if (!isTooLong) return [`${mark} ${name} ${paint.faint(timed)} ${oneLine(text, room)}`.trimEnd()];
  const parts = [nameOfStep(step), time, state === 'failed' ? text : ''].filter((part) => part !== '');
  const [first = '', ...rest] = wrap(parts, inside);
  return [`${mark} ${first}`, ...rest];
}

const TEXT_LINES = 2;

/** Draws the calls of tools that a running step waits for or, if there are none, the last lines that it has written. */
function drawText({ childId, round }: RoundTrace, step: StepTrace, frame: RunFrame): string[] {
  if (stepStateOf(step) !== 'running') return [];
  const { paint, columns } = frame;
  const calls = toolCallsOf(step).filter(isUnderWay);
  if (calls.length === 0) return drawEnd({ childId, round, step: step.index }, frame);
  const drawn = calls.map(({ name, arguments: given }) =>
    oneLine(`calls ${name} ${previewOf(given)}`, columns - WAVE_COLUMNS - 2),
  );
  return drawn.slice(-TEXT_LINES).map(paint.faint);
}

/** Draws the last lines that the Conductor has written for a plan. */
function drawPlanText({ childId, round, plan }: RoundTrace, frame: RunFrame): string[] {
  if (plan !== null) return [];
  return drawEnd({ childId, round }, frame).map((line) => ' '.repeat(WAVE_COLUMNS + 2) + line);
}

function drawEnd(place: TextPlace, { texts, paint, columns }: RunFrame): string[] {
  const text = texts?.of(place).trim() ?? '';
  if (text === '') return [];
  return wrap([text], columns - WAVE_COLUMNS - 2)
    .slice(-TEXT_LINES)
    .map(paint.faint);
}

function nameOfStep(step: StepTrace): string {
  return `${step.index + 1} ${describeWorker(step)}`;
}

/** Returns a step's output, or the reason why there is none; until it ends, its task. */
function textOfStep({ plan }: RoundTrace, { index, output, error }: StepTrace, state: StepState): string {
  if (state === 'failed') return error?.message ?? '';
  if (state === 'done') return previewOf(output ?? '');
  const { subtask, sees } = plan?.steps[index] ?? { subtask: '', sees: [] };
  return sees.length === 0 ? subtask : `${subtask} (${describeSees(sees)})`;
}

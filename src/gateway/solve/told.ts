import type { LiveEvent } from '../../client';
import type { Plan } from '../../plan/plan';
import { counted } from '../../trace/describe';
import { oneLine } from '../../trace/lines';

/** Updates on a solve for a caller that waits for its answer. */
export type AnswerEvent =
  /** A progress line, which is not part of the answer. */
  | { readonly kind: 'progress'; readonly line: string }
  /** Thoughts of the model that writes the answer. */
  | { readonly kind: 'thoughts'; readonly text: string }
  | { readonly kind: 'delta'; readonly text: string }
  /** The text so far was said before calls of tools: it stands, and the answer begins after it. */
  | { readonly kind: 'commented' }
  /** The text of the answer so far is void; deltas start again from the beginning. */
  | { readonly kind: 'dropped' };

const LINE_COLUMNS = 200;

interface TellerOptions {
  /** The plan, if it was made before the events that are told. */
  readonly plan?: Plan;
  /** Tells the text of the answer when it is complete: nothing may stand before it. */
  readonly isWhole?: boolean;
}

/** Turns a solve's events into the text of the answer as it is written, preceded by progress lines. */
export class AnswerTeller {
  private plan: Plan;
  private readonly isWhole: boolean;
  /** Text of the answer told so far. */
  private shown = '';
  /** White space before it. It is told with the text after it, since alone it is no answer. */
  private blank = '';

  constructor({ plan = { steps: [] }, isWhole = false }: TellerOptions = {}) {
    this.plan = plan;
    this.isWhole = isWhole;
  }

  *tell(event: LiveEvent): Generator<AnswerEvent> {
    if (event.kind === 'ended') {
      if (event.answer !== null) yield* this.tellEnd(event.answer);
    } else if (event.kind === 'text') {
      if (this.isAnswer(event)) yield* this.tellText(event);
    } else if (event.kind === 'thoughts') {
      if (this.isAnswer(event)) yield { kind: 'thoughts', text: event.delta };
    } else {
      if (event.kind === 'planned' && event.childId === null) this.plan = event.plan;
      yield* this.tellProgress(event);
    }
  }

  private *tellText(event: Extract<LiveEvent, { kind: 'text' }>): Generator<AnswerEvent> {
    const { delta, offset } = event;
    if (this.isWhole || event.provisional === true) return;
    // What goes on from a text that another reader was told comes whole, at the end.
    if (offset !== this.blank.length + this.shown.length) return;
    if (this.shown === '' && delta.trim() === '') {
      this.blank += delta;
      return;
    }
    const text = this.blank + delta;
    this.blank = '';
    this.shown += text;
    yield { kind: 'delta', text };
  }

  private *tellProgress(
    event: Exclude<LiveEvent, { kind: 'thoughts' | 'text' | 'ended' }>,
  ): Generator<AnswerEvent> {
    const isAnswer = 'step' in event && this.isAnswer(event);
    if (isAnswer && event.kind === 'restarted')
      yield* this.begin(event.isCommentary ? 'commented' : 'dropped');
    const line = lineOf(event, this.plan);
    // The answer itself shows that its step is done.
    const isShown = isAnswer && event.kind === 'stepEnded' && this.shown !== '';
    if (line !== null && !isShown) yield { kind: 'progress', line };
  }

  private *tellEnd(answer: string): Generator<AnswerEvent> {
    if (!answer.startsWith(this.shown)) yield* this.begin('dropped');
    const text = answer.slice(this.shown.length);
    if (text !== '') yield { kind: 'delta', text };
  }

  /** Begins the text anew. @param kind what becomes of the text so far */
  private *begin(kind: 'commented' | 'dropped'): Generator<AnswerEvent> {
    this.blank = '';
    if (this.shown === '') return;
    this.shown = '';
    yield { kind };
  }

  /** Whether a step is the last one of the plan, whose output is the answer. */
  private isAnswer({ childId, step }: { readonly childId: string | null; readonly step: number }): boolean {
    return childId === null && step === this.plan.steps.length - 1;
  }
}

function lineOf(event: LiveEvent, plan: Plan): string | null {
  const below = 'childId' in event && event.childId !== null ? 'below: ' : '';
  const line = plainLineOf(event, plan);
  return line === null ? null : oneLine(`${below}${line}`, LINE_COLUMNS);
}

function plainLineOf(event: LiveEvent, { steps }: Plan): string | null {
  switch (event.kind) {
    case 'planned':
      return `Plan of ${counted(event.plan.steps.length, 'step')}: ${event.plan.steps.map(({ worker }) => worker).join(', ')}`;
    case 'reviewed':
      return `Review of the answer: ${event.decision}`;
    case 'waiting':
      return `Waiting: ${event.for === 'rate' ? event.reason : event.for}`;
    default:
      return 'step' in event ? lineOfStep(event, steps) : null;
  }
}

function lineOfStep(
  event: Extract<LiveEvent, { readonly step: number }>,
  steps: Plan['steps'],
): string | null {
  const step = `Step ${event.step + 1}`;
  switch (event.kind) {
    case 'stepStarted':
      return `${step}, ${event.worker}: ${subtaskOf(event, steps)}`;
    case 'restarted':
      return event.isCommentary === true ? null : `${step} starts again`;
    case 'toolCalled':
      return `${step} calls ${event.name} ${event.arguments}`;
    case 'toolEnded':
      return event.outcome === 'ok' ? null : `${step}, ${event.name}: ${event.outcome}`;
    case 'stepEnded':
      return event.error === null ? `${step} is done` : `${step} failed: ${event.error.message}`;
    default:
      return null;
  }
}

function subtaskOf(
  { childId, step }: { childId: string | null; step: number },
  steps: Plan['steps'],
): string {
  return childId === null ? (steps[step]?.subtask ?? '') : 'a step of a step';
}

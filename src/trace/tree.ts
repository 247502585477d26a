import type { Call } from '../protocol/call';
import type { RoundTrace, SolveTrace, StepTrace } from '../protocol/solve';
import { previewOf } from '../protocol/text';
import { counted } from './counted';
import { describeCost, describeTokens } from './describe';
import { drawTree, type Branch } from './draw-tree';
import { oneLine, widthOf } from './one-line';
import { PLAIN, type Paint } from './paint';
import { describeDuration, describeSees, describeWorker, MARKS, stateOf } from './step-state';
import { totalOf } from './total';

/** Where the tree will be read. */
export interface TreeOptions {
  readonly paint?: Paint;
  /** Width of the terminal. Whole questions, subtasks and outputs are in the JSON format. */
  readonly columns?: number;
}

/** Where nobody says how wide the paper is. */
const WIDE_ENOUGH = 160;
/** What stands before the deepest text, that of a step of a wave of a round. */
const DEEPEST_INDENT = 13;

/** The whole story of a run for a terminal: who did what, in which wave, seeing what, for how much, and what came of it. */
export function renderTree(
  trace: SolveTrace,
  { paint = PLAIN, columns = WIDE_ENOUGH }: TreeOptions = {},
): string {
  const tree = new TreeText(trace, paint, Math.max(10, columns - DEEPEST_INDENT));
  return drawTree(tree.root()).join('\n');
}

class TreeText {
  constructor(
    private readonly trace: SolveTrace,
    private readonly paint: Paint,
    /** Columns of a text, whatever stands before it. */
    private readonly room: number,
  ) {}

  root(): Branch {
    const { id, status, degraded, stoppedBy, rounds, question } = this.trace;
    const states = [status, degraded ? 'degraded' : '', stoppedBy === null ? '' : `stopped by ${stoppedBy}`];
    const facts = [...states, describeTokens(this.trace), describeCost(this.trace)];
    return {
      line: this.head(id, facts),
      notes: [this.clip(previewOf(question))],
      branches: [...rounds.map((round) => this.round(round)), ...this.end()],
    };
  }

  private round(round: RoundTrace): Branch {
    const waves = [...new Set(round.steps.map((step) => step.wave))].sort((a, b) => a - b);
    const decision = round.decision === null ? '' : ` · ${round.decision}`;
    return {
      line: this.paint.strong(`Round ${round.round + 1}`) + decision,
      branches: [
        this.conductor(round),
        ...waves.map((wave) => ({
          line: `Wave ${wave + 1}`,
          branches: round.steps.filter((step) => step.wave === wave).map((step) => this.step(round, step)),
        })),
      ],
    };
  }

  private conductor({ round, plan }: RoundTrace): Branch {
    const calls = this.trace.calls.filter((call) => call.round === round && call.step === null);
    const written = plan === null ? 'no plan yet' : counted(plan.steps.length, 'step');
    const model = calls.at(-1)?.model ?? '';
    return {
      line: this.head('Conductor', [model, written, ...spent(calls)]),
      notes: this.failures(calls),
    };
  }

  private step(round: RoundTrace, step: StepTrace): Branch {
    const { index, model, startedAt, endedAt } = step;
    const planned = round.plan?.steps[index];
    const calls = this.trace.calls.filter((call) => call.round === round.round && call.step === index);
    const duration = startedAt === null || endedAt === null ? '' : describeDuration(startedAt, endedAt);
    const facts = [model ?? '', describeSees(planned?.sees ?? []), duration, ...spent(calls)];
    return {
      line: `${this.mark(step)} ${this.head(`${index + 1} ${describeWorker(step)}`, facts)}`,
      notes: [
        ...this.note('subtask', planned?.subtask),
        ...this.failures(calls.filter((call) => call.error?.message !== step.error?.message)),
        ...this.note('error', step.error?.message),
        ...this.note('output', step.output === null ? '' : previewOf(step.output)),
        ...this.note('dropped', step.dropped.join(', ')),
      ],
    };
  }

  private end(): Branch[] {
    const { answer, error } = this.trace;
    if (error !== null) {
      return [{ line: this.paint.bad(`Error ${error.type}`), notes: [this.clip(error.message)] }];
    }
    return answer === null
      ? []
      : [{ line: this.paint.good('Answer'), notes: [this.clip(previewOf(answer))] }];
  }

  private mark(step: StepTrace): string {
    const { good, bad, busy, faint } = this.paint;
    const state = stateOf(step);
    return { done: good, failed: bad, running: busy, waiting: faint }[state](MARKS[state]);
  }

  /** Attempts that came to nothing. */
  private failures(calls: readonly Call[]): string[] {
    const reasons = calls.map(({ error }) => (error === null ? '' : `${error.type} ${error.message}`));
    return calls.flatMap(({ attempt }, index) => {
      const reason = reasons[index] ?? '';
      const isTold = reason === reasons[index - 1];
      return isTold ? [] : this.note(`attempt ${attempt}${sameAfter(reasons, index)}`, reason);
    });
  }

  private note(label: string, text: string | undefined): string[] {
    if (text === undefined || text === '') return [];
    return [`${this.paint.faint(label)} ${oneLine(text, this.room - label.length)}`];
  }

  private head(name: string, facts: readonly string[]): string {
    const shown = oneLine(name, this.room);
    const rest = facts.filter((fact) => fact !== '').join(' · ');
    return `${this.paint.strong(shown)}  ${this.paint.faint(oneLine(rest, this.room - widthOf(shown)))}`;
  }

  private clip(text: string): string {
    return oneLine(text, this.room);
  }
}

/** How far the same reason goes on: `-5` where the attempts up to the fifth failed alike. */
function sameAfter(reasons: readonly string[], index: number): string {
  const next = reasons.findIndex((reason, other) => other > index && reason !== reasons[index]);
  const last = next === -1 ? reasons.length : next;
  return last - index > 1 ? `-${last}` : '';
}

function spent(calls: readonly Call[]): string[] {
  const total = totalOf(calls);
  return calls.length === 0 ? [] : [describeTokens(total), describeCost(total)];
}

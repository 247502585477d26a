import type { Plan } from '../../plan/plan';
import type { RoundTrace, SolveResult } from '../../protocol/solve';
import { describeEstimate, describeSteps } from '../../trace/describe';
import { oneLine } from '../../trace/lines';
import { callsOfPlan, waitingRounds } from '../../trace/run-tree';
import { harmless } from '../terminal';
import { askVerdict, type Decider, type Person } from './verdict';

export interface Asking {
  readonly decider: Decider;
  /** The signal takes back what the person is asked. */
  readonly personFor: (signal: AbortSignal) => Person;
  /** Keeps the live view off the screen while the person types. */
  readonly whilePaused: (work: () => Promise<void>) => Promise<void>;
}

/** Asks a person about the plans of a run that wait for one: each once, one at a time. */
export class PlanQuestions {
  /** The id of a run whose plan the person left for later; rejects with the first failure to ask or to decide. */
  readonly left: Promise<{ readonly left: string }>;
  private readonly asked = new Set<string>();
  private isClosed = false;
  private latest: SolveResult | null = null;
  private current: { readonly about: string; readonly stop: AbortController } | null = null;
  private leave: (plan: { readonly left: string }) => void = () => undefined;
  private fail: (error: unknown) => void = () => undefined;

  constructor(private readonly asking: Asking) {
    this.left = new Promise((resolve, reject) => {
      this.leave = resolve;
      this.fail = reject;
    });
    this.left.catch(() => undefined);
  }

  /** Takes the newest trace: asks what is open, and takes back what someone else has decided meanwhile. */
  consider(trace: SolveResult): void {
    this.latest = trace;
    const waiting = waitingRounds(trace).map((round) => ({ round, about: keyOf(trace, round) }));
    if (this.current !== null) {
      if (!waiting.some(({ about }) => about === this.current?.about)) this.current.stop.abort();
      return;
    }
    const next = waiting.find(({ about }) => !this.asked.has(about));
    if (next !== undefined) void this.ask(trace, next.round, next.about);
  }

  close(): void {
    this.isClosed = true;
    this.current?.stop.abort();
  }

  private async ask(trace: SolveResult, { childId, plan }: RoundTrace, about: string): Promise<void> {
    const stop = new AbortController();
    this.current = { about, stop };
    this.asked.add(about);
    const id = childId ?? trace.id;
    const { decider, personFor, whilePaused } = this.asking;
    try {
      await whilePaused(async () => {
        if (plan === null) return;
        const person = personFor(stop.signal);
        person.tell(describePlan(id, plan, trace));
        if ((await askVerdict(person, id, plan, decider)) === 'later') this.leave({ left: id });
      });
    } catch (error) {
      if (!stop.signal.aborted) this.fail(error);
    }
    this.current = null;
    if (!this.isClosed) this.consider(this.latest ?? trace);
  }
}

/** Distinguishes a plan that waits from the next one of the same run, even where the Conductor wrote the same again. */
function keyOf(trace: SolveResult, round: RoundTrace): string {
  return JSON.stringify([round.childId, round.plan, callsOfPlan(trace.calls, round).length]);
}

const PREVIEW_COLUMNS = 200;

/** The whole plan: no one must approve what they have not seen. */
function describePlan(id: string, plan: Plan, { id: root, estimate, question }: SolveResult): string {
  const cost = estimate === undefined || id !== root ? '' : `, ${describeEstimate(estimate)}`;
  // Indented below its step, a line of a subtask passes for no other step.
  const steps = describeSteps(plan, (subtask) => harmless(subtask).replaceAll('\n', '\n      '));
  return [
    oneLine(question, PREVIEW_COLUMNS),
    `Run ${id} waits for approval of its plan${cost}:`,
    ...steps,
  ].join('\n');
}

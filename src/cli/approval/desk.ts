import { RefusedError } from '../../client/steer';
import type { ConductorClient } from '../../client/conductor-client';
import type { Plan } from '../../plan/plan';
import type { RoundTrace, SolveResult } from '../../protocol/solve';
import { describeEstimate, describeSteps } from '../../trace/describe';
import { oneLine } from '../../trace/lines';
import { callsOfPlan, waitingRounds } from '../../trace/run-tree';
import { harmless } from '../terminal';
import { askVerdict, type Person } from './verdict';

export interface DeskSetting {
  readonly conductor: Pick<ConductorClient, 'planContext' | 'approvePlan' | 'editPlan' | 'rejectPlan'>;
  /** The signal takes back what the person is asked. */
  readonly personFor: (signal: AbortSignal) => Person;
  /** Keeps the live view off the screen while the person types. */
  readonly whilePaused: (work: () => Promise<void>) => Promise<void>;
}

/** Asks a person about each plan that waits for one, one at a time, and each once. */
export class ApprovalDesk {
  /** Settles with the first failure that is not the run's own refusal; never resolves. */
  readonly broken: Promise<never>;
  /** Resolves once the person has left a plan waiting, with the id of its run. */
  readonly left: Promise<{ readonly left: string }>;
  private readonly asked = new Set<string>();
  private isClosed = false;
  private latest: SolveResult | null = null;
  private current: { readonly about: string; readonly stop: AbortController } | null = null;
  private breakDown: (error: unknown) => void = () => undefined;
  private leave: (plan: { readonly left: string }) => void = () => undefined;

  constructor(private readonly setting: DeskSetting) {
    this.broken = new Promise((_, reject) => (this.breakDown = reject));
    this.broken.catch(() => undefined);
    this.left = new Promise((resolve) => (this.leave = resolve));
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
    if (next !== undefined) this.ask(trace, next.round, next.about);
  }

  close(): void {
    this.isClosed = true;
    this.current?.stop.abort();
  }

  private ask(trace: SolveResult, round: RoundTrace, about: string): void {
    const stop = new AbortController();
    this.current = { about, stop };
    this.asked.add(about);
    this.setting
      .whilePaused(() => this.settle(trace, round, stop.signal))
      .catch((error: unknown) => {
        if (!stop.signal.aborted) this.breakDown(error);
      })
      .finally(() => {
        this.current = null;
        if (!this.isClosed && this.latest !== null) this.consider(this.latest);
      });
  }

  private async settle(
    trace: SolveResult,
    { childId, plan }: RoundTrace,
    signal: AbortSignal,
  ): Promise<void> {
    if (plan === null) return;
    const { conductor, personFor } = this.setting;
    const id = childId ?? trace.id;
    const person = personFor(signal);
    person.tell(describePlan(id, plan, trace));
    const verdict = await askVerdict(person, plan, await conductor.planContext(id));
    if (verdict.kind === 'leave') this.leave({ left: id });
    try {
      if (verdict.kind === 'approve') await conductor.approvePlan(id);
      if (verdict.kind === 'edit') await conductor.editPlan(id, verdict.plan);
      if (verdict.kind === 'reject') await conductor.rejectPlan(id, verdict.reason);
    } catch (error) {
      if (!(error instanceof RefusedError)) throw error;
      person.tell(error.message);
    }
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

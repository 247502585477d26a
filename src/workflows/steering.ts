import type { ChildWorkflowHandle } from '@temporalio/workflow';
import { MAX_HINTS } from '../protocol/messages';
import type { Plan, PlanContext } from '../plan/plan';
import { ADD_HINT_SIGNAL, SET_MAX_DEPTH_SIGNAL } from '../protocol/names';
import type { RunLimits } from '../protocol/cards';
import type { SolveInput } from '../protocol/input';
import type { SolveTrace } from '../protocol/solve';
import type { Limits } from './limits';

export interface Told {
  readonly depth: number | null;
  readonly hints: readonly string[];
}

export type ChildSolve = ChildWorkflowHandle<(input: SolveInput) => Promise<SolveTrace>>;

interface LiveChild {
  readonly handle: ChildSolve;
  known: Told;
}

/** What a run receives while it runs, passed on to its children, or made up for once they can be signalled. */
export class Steering {
  readonly hints: string[] = [];
  /** Whether the run has ended: it is no use to wait for anything of it. */
  isOver = false;
  private readonly children = new Set<LiveChild>();
  limits: Limits | null = null;
  /** What was received before the run had limits to change. */
  private early: Partial<RunLimits> = {};

  attachLimits(limits: Limits): void {
    this.limits = limits;
    limits.change(this.early);
  }

  async addHint(hint: string): Promise<void> {
    this.hints.push(hint);
    await this.notifyAll();
  }

  /** Live children learn of another depth; what was set aside for them stays. */
  async changeLimits(change: Partial<RunLimits>): Promise<void> {
    if (this.limits === null) this.early = { ...this.early, ...change };
    else this.limits.change(change);
    await this.notifyAll();
  }

  /** Starts a child, with what holds at this moment, and keeps it informed until it has ended. */
  async runChild(limits: Limits, start: (known: Told) => Promise<ChildSolve>): Promise<SolveTrace> {
    const known = this.toldBy(limits);
    const child: LiveChild = { handle: await start(known), known };
    this.children.add(child);
    try {
      await this.notify(child, limits);
      return await child.handle.result();
    } finally {
      this.children.delete(child);
    }
  }

  private toldBy(limits: Limits): Told {
    return { depth: limits.current.depth, hints: this.hints.slice(0, MAX_HINTS) };
  }

  private async notifyAll(): Promise<void> {
    const { limits } = this;
    if (limits === null) return;
    await Promise.all([...this.children].map((child) => this.notify(child, limits)));
  }

  private async notify(child: LiveChild, limits: Limits): Promise<void> {
    const { handle, known } = child;
    const now = this.toldBy(limits);
    child.known = now;
    try {
      if (now.depth !== known.depth) await handle.signal(SET_MAX_DEPTH_SIGNAL, now.depth);
      for (const hint of now.hints.slice(known.hints.length)) await handle.signal(ADD_HINT_SIGNAL, hint);
    } catch {
      // A child that has just ended needs no message, and neither does one that is being cancelled with this run: thrown
      // from a handler, or before the child's end was awaited, the cancellation would end the run with calls still open.
    }
  }
}

/** A person's verdict: the plan to run, changed or not, or why there must be another. */
export type Verdict = { readonly plan: Plan } | { readonly reason: string };

/** A plan, and what another one in its place is judged by, as the limits are now. */
export interface WaitingPlan {
  readonly plan: Plan;
  readonly context: PlanContext;
}

/** Where a plan waits for a person, one at a time. */
export class Approval {
  private asked: { readonly plan: Plan; readonly rules: () => PlanContext } | null = null;
  private verdict: Verdict | null = null;

  get waiting(): WaitingPlan | null {
    if (this.verdict !== null || this.asked === null) return null;
    return { plan: this.asked.plan, context: this.asked.rules() };
  }

  decide(verdict: Verdict): void {
    this.verdict = verdict;
  }

  /** Waits for a verdict; null when no one gave one in time. */
  async ask(plan: Plan, rules: () => PlanContext, limits: Limits): Promise<Verdict | null> {
    this.asked = { plan, rules };
    this.verdict = null;
    await limits.waitForPerson(() => this.verdict !== null);
    this.asked = null;
    return this.verdict;
  }
}

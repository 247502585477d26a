import { type ChildWorkflowHandle, patched } from '@temporalio/workflow';
import { MAX_HINTS } from '../protocol/messages';
import type { Plan, PlanContext } from '../plan/plan';
import { ADD_HINT_SIGNAL, SET_MAX_DEPTH_SIGNAL } from '../protocol/names';
import type { RunLimits } from '../protocol/cards';
import type { SolveInput } from '../protocol/input';
import type { SolveTrace } from '../protocol/solve';
import type { KeyRights } from '../protocol/key-rights';
import type { Limits } from './limits';

export interface SteeringState {
  readonly depth: number | null;
  readonly hints: readonly string[];
}

export type ChildSolve = ChildWorkflowHandle<(input: SolveInput) => Promise<SolveTrace>>;

interface LiveChild {
  readonly handle: ChildSolve;
  known: SteeringState;
  /** Messages on their way to it; null if there are none. */
  telling: Promise<void> | null;
}

/** Patch of runs that tell a child one thing at a time. Written into histories: never rename it. */
const ONE_AT_A_TIME = 'one-message-at-a-time';

/** Messages that a run receives, passed on to its children, at the latest once they can be signalled. */
export class Steering {
  readonly hints: string[] = [];
  /** Whether the run has ended, so that waiting for it is pointless. */
  isOver = false;
  private readonly children = new Set<LiveChild>();
  limits: Limits | null = null;
  /** Changes received before the run had limits to change. */
  private early: Partial<RunLimits> = {};
  private underWay = 0;

  /** Whether messages are on their way to a child. */
  get isTelling(): boolean {
    return this.underWay > 0;
  }

  constructor(readonly rights: KeyRights) {}

  attachLimits(limits: Limits): void {
    this.limits = limits;
    limits.change(this.early);
  }

  addHint(hint: string): void {
    this.hints.push(hint);
    void this.tellChildren();
  }

  /**
   * Changes limits as the sender may. Live children learn of a new depth; what was set aside for them stays.
   * Returns messages on their way to children; no promise without children, since each costs a stack trace.
   */
  changeLimits(change: Partial<RunLimits>, sender: unknown): readonly Promise<void>[] {
    this.rights.note(change, sender);
    if (this.limits === null) this.early = { ...this.early, ...change };
    else this.limits.change(change);
    return this.tellChildren();
  }

  /** Starts a child with the current depth and hints, and keeps it informed until it has ended. */
  async runChild(limits: Limits, start: (known: SteeringState) => Promise<ChildSolve>): Promise<SolveTrace> {
    const known = this.toldBy(limits);
    const child: LiveChild = { handle: await start(known), known, telling: null };
    this.children.add(child);
    try {
      await this.tell(child, limits);
      return await child.handle.result();
    } finally {
      this.children.delete(child);
    }
  }

  private toldBy(limits: Limits): SteeringState {
    return { depth: limits.current.depth, hints: this.hints.slice(0, MAX_HINTS) };
  }

  private tellChildren(): Promise<void>[] {
    const { limits } = this;
    if (limits === null) return [];
    return [...this.children].flatMap((child) => this.tell(child, limits) ?? []);
  }

  /**
   * Tells a child what is new to it. While messages are on their way, what is new waits, and is told as one: Temporal
   * takes at most 2,000 messages under way, and would refuse the whole workflow task with one more. Returns null if
   * nothing is new to it.
   */
  private tell(child: LiveChild, limits: Limits): Promise<void> | null {
    if (!this.hasNews(child, limits)) return null;
    if (child.telling !== null && patched(ONE_AT_A_TIME)) return child.telling;
    child.telling = this.sendNews(child, limits).then(() => {
      child.telling = null;
    });
    return child.telling;
  }

  private hasNews({ known }: LiveChild, limits: Limits): boolean {
    const now = this.toldBy(limits);
    return now.depth !== known.depth || now.hints.length > known.hints.length;
  }

  private async sendNews(child: LiveChild, limits: Limits): Promise<void> {
    const { handle } = child;
    this.underWay += 1;
    try {
      while (this.hasNews(child, limits)) {
        const { known } = child;
        const now = this.toldBy(limits);
        child.known = now;
        if (now.depth !== known.depth) {
          await handle.signal(SET_MAX_DEPTH_SIGNAL, now.depth, ...this.rights.passedOn);
        }
        for (const hint of now.hints.slice(known.hints.length)) await handle.signal(ADD_HINT_SIGNAL, hint);
      }
    } catch {
      // A child that has just ended needs no message, and neither does one that is cancelled with this run. If thrown
      // from a handler, or before the child's end is awaited, the cancellation would end the run with open calls.
    } finally {
      this.underWay -= 1;
    }
  }
}

/** Verdict of a person: the plan to run, changed or not, or why another one is needed. */
export type PlanVerdict = { readonly plan: Plan } | { readonly reason: string };

/** Plan that waits, and the rules that a replacement must meet, under the limits at that time. */
export interface WaitingPlan {
  readonly plan: Plan;
  readonly rules: () => PlanContext;
}

/** Holds a plan that waits for a person, one at a time. */
export class Approval {
  waiting: WaitingPlan | null = null;
  private verdict: PlanVerdict | null = null;

  decide(verdict: PlanVerdict): void {
    this.verdict = verdict;
    this.waiting = null;
  }

  /** Waits for a verdict. Returns null if no one gave one in time. */
  async ask(waiting: WaitingPlan, limits: Limits): Promise<PlanVerdict | null> {
    this.waiting = waiting;
    this.verdict = null;
    await limits.waitForPerson(() => this.verdict !== null);
    this.waiting = null;
    return this.verdict;
  }
}

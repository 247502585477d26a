import type { Limits } from '../limits';

/** What a person decided about a call of a tool. */
export type CallVerdict =
  | {
      readonly isApproved: true;
      /** JSON in place of the model's arguments. */
      readonly input?: string;
    }
  | { readonly isApproved: false; readonly reason: string };

/** Calls of tools that wait for a person, or did. A decision holds, however often it is sent. */
export class CallApproval {
  private readonly verdicts = new Map<string, CallVerdict | null>();

  /**
   * Waits until a person has decided on all of these calls, at most the time for approvals. Returns a verdict for each;
   * null: nobody gave one.
   */
  async ask(calls: readonly string[], limits: Limits): Promise<(CallVerdict | null)[]> {
    for (const call of calls) this.verdicts.set(call, null);
    await limits.waitForPerson(() => calls.every((call) => this.verdicts.get(call) !== null));
    return calls.map((call) => {
      const verdict = this.verdicts.get(call) ?? null;
      if (verdict === null) this.verdicts.delete(call);
      return verdict;
    });
  }

  /** Returns the verdict on a call; null: it waits for one; undefined: nobody is asked about it, or no longer. */
  verdictOn(call: string): CallVerdict | null | undefined {
    return this.verdicts.get(call);
  }

  decide(call: string, verdict: CallVerdict): void {
    this.verdicts.set(call, verdict);
  }
}

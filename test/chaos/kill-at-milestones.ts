import type { Kill } from './evidence';
import type { Milestone, PlannedKill, Victim } from './kill-script';

/** Kills a victim, and resolves when its successor works. */
export type Strike = (victim: Victim) => Promise<void>;

/** Strikes as progress is made: each kill once its count is reached, one after the other. */
export class KillAtMilestones {
  readonly kills: Kill[] = [];
  readonly #counts: Record<Milestone, number> = { requests: 0, ends: 0 };
  readonly #planned: Set<PlannedKill>;
  #strike: Strike | null = null;
  #last: Promise<void> = Promise.resolve();

  constructor(planned: readonly PlannedKill[]) {
    this.#planned = new Set(planned);
  }

  /** From here on what is due is killed. */
  begin(strike: Strike): void {
    this.#strike = strike;
  }

  /** Notes one more request, or one more end. */
  count(milestone: Milestone): void {
    this.#counts[milestone] += 1;
    for (const kill of this.#planned) {
      if (kill.milestone !== milestone || kill.count > this.#counts[milestone]) continue;
      this.#planned.delete(kill);
      this.#last = this.#last.then(() => this.#kill(kill.victim));
      // Told by `settle`; until then Node shall not take it for a lost rejection.
      this.#last.catch(() => undefined);
    }
  }

  /** Waits for the last successor; rejects if one could not be started. */
  async settle(): Promise<void> {
    await this.#last;
  }

  async #kill(victim: Victim): Promise<void> {
    this.kills.push({ victim, at: Date.now() });
    await this.#strike?.(victim);
  }
}

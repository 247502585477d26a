import { condition } from '@temporalio/workflow';
import type { NightBudget } from '../../training/train-input';
import type { TrainingSettings } from '../../training/training-settings';

const HOUR_MS = 3_600_000;

/** What a night was told to do, from its first moment on. */
export class Orders {
  private budget: TrainingSettings['budget'] | null = null;
  /** Told before the night knew its configured budget. */
  private asked: NightBudget = {};

  constructor(public isPaused = false) {}

  isStopped = false;

  /** What the night may use: as configured, or as it was told since. */
  get current(): TrainingSettings['budget'] | null {
    return this.budget;
  }

  /** From here on the night has a budget. */
  govern(budget: TrainingSettings['budget']): void {
    this.budget = budget;
    this.changeBudget(this.asked);
  }

  /** Takes over another budget, and returns what now holds; what is not named stays. */
  changeBudget(change: NightBudget): NightBudget {
    if (this.budget === null) {
      this.asked = { ...this.asked, ...change };
      return this.asked;
    }
    const { costUsd, hours } = change;
    this.budget = {
      nanoUsd:
        costUsd === undefined ? this.budget.nanoUsd : costUsd === null ? null : Math.round(costUsd * 1e9),
      wallClockMs: hours === undefined ? this.budget.wallClockMs : hours * HOUR_MS,
    };
    return {
      costUsd: this.budget.nanoUsd === null ? null : this.budget.nanoUsd / 1e9,
      hours: this.budget.wallClockMs / HOUR_MS,
    };
  }

  /** Waits while the night is held. */
  async whenResumed(): Promise<void> {
    await condition(() => !this.isPaused || this.isStopped);
  }
}

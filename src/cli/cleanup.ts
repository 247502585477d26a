type Step = () => Promise<void>;

/** What was opened and must be closed, the latest first; a step that fails does not keep the others from their turn. */
export class Cleanup {
  private readonly steps: Step[] = [];

  add(step: Step): void {
    this.steps.push(step);
  }

  /** Closes everything once; rejects with the last failure, if any step failed. */
  async run(): Promise<void> {
    const step = this.steps.pop();
    if (step !== undefined) await step().finally(() => this.run());
  }
}

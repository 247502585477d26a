import type { Night } from './night-stage';

/** Sees every night that a worker is given, and lets it last as long as the test says. */
export class NightWatch {
  readonly nights: Night[] = [];
  private held: Promise<void> = Promise.resolve();
  private readonly waiting: { readonly count: number; readonly tell: () => void }[] = [];

  /** From now on, nights last until the returned function is called. */
  hold(): () => void {
    let release = (): void => undefined;
    this.held = new Promise((resolve) => {
      release = resolve;
    });
    return () => {
      release();
    };
  }

  /** Waits until so many nights have begun. */
  saw(count: number): Promise<void> {
    return new Promise((tell) => {
      this.waiting.push({ count, tell });
      this.tellAll();
    });
  }

  readonly spendNight = async (night: Night): Promise<void> => {
    this.nights.push(night);
    this.tellAll();
    await this.held;
  };

  private tellAll(): void {
    for (const { count, tell } of this.waiting) if (this.nights.length >= count) tell();
  }
}

import { draw } from '../../src/testing/simulated-model';
import type { Kill } from './evidence';

/** Victims: a worker process, the Temporal server or the providers; a frozen worker is stopped and continues later. */
export type Victim = 'worker' | 'server' | 'providers' | 'frozen worker';

/** Progress that anybody can count, whatever the speed of the machine. */
type Milestone = 'requests' | 'ends';

/** One `kill -9`, due when the n-th request has come or the n-th solve has ended. */
interface PlannedKill {
  readonly victim: Victim;
  readonly milestone: Milestone;
  readonly count: number;
}

/** Workers suffer as often as server and providers together, as they do where a worker is what one deploys. */
const CYCLE: readonly Victim[] = ['worker', 'server', 'providers', 'frozen worker'];
/** The share of kills that waits for the end of a solve; the others strike when a request has come. */
const AT_AN_END = 0.25;
/** A solve sends more than that in the mean, so that every kill comes due. */
const REQUESTS_PER_SOLVE = 2.5;
/** The last part of the runs ends undisturbed, so that the last kill still hits something. */
const DISTURBED = 0.9;

/** The kills of a seed, in no order: progress decides. The same seed and numbers give the same script. */
function drawKills(seed: number, solves: number, kills: number): PlannedKill[] {
  return Array.from({ length: kills }, (_, index) => {
    const victim = CYCLE[index % CYCLE.length] ?? 'worker';
    const milestone = draw(seed, 'milestone', index) < AT_AN_END ? 'ends' : 'requests';
    const last = DISTURBED * solves * (milestone === 'ends' ? 1 : REQUESTS_PER_SOLVE);
    return { victim, milestone, count: 1 + Math.floor(draw(seed, 'when', index) * last) };
  });
}

/** Strikes as progress is made: each kill once its count is reached, one after the other. */
export class KillScript {
  readonly kills: Kill[] = [];
  private readonly counts: Record<Milestone, number> = { requests: 0, ends: 0 };
  private readonly planned: Set<PlannedKill>;
  private last: Promise<void> = Promise.resolve();
  /** Kills a victim, and resolves when its successor works. */
  strike: (victim: Victim) => Promise<void> = () => Promise.resolve();

  constructor(seed: number, solves: number, kills: number) {
    this.planned = new Set(drawKills(seed, solves, kills));
  }

  /** Notes one more request, or one more end. */
  count(milestone: Milestone): void {
    this.counts[milestone] += 1;
    for (const kill of this.planned) {
      if (kill.milestone !== milestone || kill.count > this.counts[milestone]) continue;
      this.planned.delete(kill);
      this.last = this.last.then(() => this.kill(kill.victim));
      // Told by `settle`; until then Node shall not take it for a lost rejection.
      this.last.catch(() => undefined);
    }
  }

  /** Waits for the last successor; rejects if one could not be started. */
  async settle(): Promise<void> {
    await this.last;
  }

  private async kill(victim: Victim): Promise<void> {
    this.kills.push({ victim, at: Date.now() });
    await this.strike(victim);
  }
}

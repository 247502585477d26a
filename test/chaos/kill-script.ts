import { draw } from '../../src/testing/simulated-model';
import type { Kill } from './evidence';

/** Victims: a worker process, the Temporal server, the providers or the reader of streams; a frozen worker continues later. */
export type Victim = 'worker' | 'server' | 'providers' | 'frozen worker' | 'client';

/** Progress that anybody can count, whatever the speed of the machine. */
type Milestone = 'requests' | 'ends' | 'texts';

/** One `kill -9`, due when the n-th request or piece of text has come, or the n-th solve has ended. */
interface PlannedKill {
  readonly victim: Victim;
  readonly milestone: Milestone;
  readonly count: number;
}

/** Workers suffer as often as server and providers together, as they do where a worker is what one deploys. */
const CYCLE: readonly Victim[] = ['worker', 'server', 'providers', 'frozen worker'];
/** Who has a part in a stream. */
const LIVE_CYCLE: readonly Victim[] = ['worker', 'client', 'server'];
/** The share of kills that waits for the end of a solve; the others strike when a request has come. */
const AT_AN_END = 0.25;
/** A solve sends more than that in the mean, so that every kill comes due. */
const REQUESTS_PER_SOLVE = 2.5;
/** In the mean, a client is told more than that. */
const TEXTS_PER_SOLVE = 5;
/** The last part of the runs ends undisturbed, so that the last kill still hits something. */
const DISTURBED = 0.9;

export interface Script {
  readonly seed: number;
  readonly solves: number;
  readonly kills: number;
  /** Kills strike in the midst of streams. */
  readonly live: boolean;
}

/** The kills of a seed, in no order: progress decides. The same seed and numbers give the same script. */
function drawKills({ seed, solves, kills, live }: Script): PlannedKill[] {
  if (live) {
    return Array.from({ length: kills }, (_, index) => {
      const victim = LIVE_CYCLE[index % LIVE_CYCLE.length] ?? 'worker';
      const last = DISTURBED * solves * TEXTS_PER_SOLVE;
      return { victim, milestone: 'texts', count: 1 + Math.floor(draw(seed, 'text', index) * last) };
    });
  }
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
  private readonly counts: Record<Milestone, number> = { requests: 0, ends: 0, texts: 0 };
  private readonly planned: Set<PlannedKill>;
  private last: Promise<void> = Promise.resolve();
  /** Kills a victim, and resolves when its successor works. */
  strike: (victim: Victim) => Promise<void> = () => Promise.resolve();

  constructor(script: Script) {
    this.planned = new Set(drawKills(script));
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

import { draw } from '../../src/testing/simulated-model';
import type { Kill } from './evidence';

/** Process to kill; `client` is the reader of streams, and a frozen worker continues later. */
export type Victim = 'worker' | 'server' | 'providers' | 'frozen worker' | 'client';

/** Progress that can be counted on a machine of any speed. */
type Milestone = 'requests' | 'ends' | 'texts';

/** One `kill -9`, due when the n-th request or piece of text has come, or the n-th solve has ended. */
interface PlannedKill {
  readonly victim: Victim;
  readonly milestone: Milestone;
  readonly count: number;
}

/** Order of the victims: workers are hit as often as server and providers together, since users deploy workers. */
const CYCLE: readonly Victim[] = ['worker', 'server', 'providers', 'frozen worker'];
/** Order of the victims in live runs: everything that takes part in a stream. */
const LIVE_CYCLE: readonly Victim[] = ['worker', 'client', 'server'];
/** Share of kills that are due at the end of a solve; the others are due at a request. */
const AT_AN_END = 0.25;
/** Lower estimate of a solve's mean number of requests, so that every kill comes due. */
const REQUESTS_PER_SOLVE = 2.5;
/** Lower estimate of the mean number of texts that a client is told per solve. */
const TEXTS_PER_SOLVE = 5;
/** Share of the progress in which kills come due, so that the last kill still hits something. */
const DISTURBED = 0.9;

export interface Script {
  readonly seed: number;
  readonly solves: number;
  readonly kills: number;
  /** Whether kills are due in mid-stream. */
  readonly live: boolean;
}

/** Draws the kills of a seed; progress decides their order. Equal settings give equal kills. */
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

/** Carries out each kill once progress has reached its count, one after the other. */
export class KillScript {
  readonly kills: Kill[] = [];
  private readonly counts: Record<Milestone, number> = { requests: 0, ends: 0, texts: 0 };
  private readonly planned: Set<PlannedKill>;
  private last: Promise<void> = Promise.resolve();
  /** Kills a victim, and resolves when its successor works; set by the caller. */
  strike: (victim: Victim) => Promise<void> = () => Promise.resolve();

  constructor(script: Script) {
    this.planned = new Set(drawKills(script));
  }

  /** Counts one more request, end or text, and starts the kills that are due. */
  count(milestone: Milestone): void {
    this.counts[milestone] += 1;
    for (const kill of this.planned) {
      if (kill.milestone !== milestone || kill.count > this.counts[milestone]) continue;
      this.planned.delete(kill);
      this.last = this.last.then(() => this.kill(kill.victim));
      // `settle` reports the error; until then, Node must not take it for an unhandled rejection.
      this.last.catch(() => undefined);
    }
  }

  /** Waits for the last successor; rejects if one could not be started. */
  async settle(): Promise<void> {
    await this.last;
  }

  private async kill(victim: Victim): Promise<void> {
    this.kills.push({ victim, at: performance.timeOrigin + performance.now() });
    await this.strike(victim);
  }
}

import { randomPart } from '../../client';
import { MAX_WALL_CLOCK_MS } from '../../protocol/messages';
import {
  ASKED_RUNS,
  type AskedNote,
  type AskedRun,
  changeAskedNote,
  noteAskedRun,
  readAskedNote,
  readAskedRuns,
} from '../../store/asked-runs';
import { eachInParallel, type Store, timeAgo } from '../../store/store';
import type { Pulse } from '../pulse';

/** How long after an answer broke off, or failed, the same request is taken for a repeat of it. */
const REPEAT_MS = 60_000;
/** How long a client may count its attempts: longer than all of them with the waits between. */
const RETRY_MS = 30 * 60_000;

/** A request as it may come again. */
interface Repeatable {
  /** Digest of who asks where for what. */
  readonly digest: string;
  /** The client says that it has sent the request before. */
  readonly isRetry: boolean;
  /** Makes the id of a new run. */
  readonly newId: () => string;
}

/** An answer on its way to its client. */
export interface Handover {
  /** Id of the run whose answer it is. */
  readonly id: string;
  /** Whether an earlier request may have started the run. */
  readonly isRepeated: boolean;
  /** Notes how it ended. */
  readonly end: (state: Exclude<AskedNote['state'], 'told'>) => void;
}

/**
 * Notes of each run whether its answer reached the client, in the store, for all gateways. A request that comes again
 * gets a run whose answer broke off, and each such run goes to one request: equal requests side by side are runs of
 * their own. If nobody knows when an answer broke off, since its gateway died, it counts as just now. A failure goes to
 * all that ask again, and its time stays that of the first.
 */
export class Handovers {
  /** Answers that this process is sending. */
  private readonly sendings = new Set<string>();
  /** Ends that are being noted. */
  private readonly noting = new Set<Promise<void>>();

  constructor(
    private readonly store: Store,
    private readonly pulse: Pulse,
  ) {}

  /** Finds the run of an earlier request, or names a new one; its answer counts as being sent until `end`. */
  async begin(request: Repeatable): Promise<Handover> {
    const note: AskedNote = { state: 'told', gateway: this.pulse.gateway, sending: randomPart(12) };
    this.sendings.add(note.sending);
    const rest = this.pulse.keep();
    try {
      const earlier = await this.takeEarlier(request, note);
      const id = earlier?.id ?? request.newId();
      const key = earlier?.key ?? (await noteAskedRun(this.store, request.digest, id, note));
      const end: Handover['end'] = (state) => {
        this.sendings.delete(note.sending);
        const noted = this.noteEnd(key, note, state).finally(() => {
          this.noting.delete(noted);
          rest();
        });
        this.noting.add(noted);
      };
      return { id, isRepeated: earlier !== null, end };
    } catch (error) {
      this.sendings.delete(note.sending);
      rest();
      throw error;
    }
  }

  /** Resolves once all ends so far are noted. */
  async untilNoted(): Promise<void> {
    await Promise.all(this.noting);
  }

  private async noteEnd(key: string, note: AskedNote, state: AskedNote['state']): Promise<void> {
    // A note that cannot be changed says that the answer is being sent, which this process then knows to be wrong. One
    // that somebody else changed is about a later sending.
    await changeAskedNote(this.store, key, note, { ...note, state }).catch(() => undefined);
  }

  /** Takes over an earlier run for a sending of its answer; null: there is none. */
  private async takeEarlier({ digest, isRetry }: Repeatable, next: AskedNote): Promise<AskedRun | null> {
    const lives = new Map<string, boolean>();
    for (;;) {
      await this.untilNoted();
      const runs = await readAskedRuns(this.store, digest);
      const cut = await this.findCut(runs, lives);
      const found = cut.length === 0 && isRetry ? await this.findLatest(runs) : cut;
      for (const run of found) {
        const isShared = run.note.state === 'failed';
        if (isShared || (await changeAskedNote(this.store, run.key, run.note, next))) return run;
      }
      const unknown = runs.filter(({ note }) => this.isSentElsewhere(note) && !lives.has(note.gateway));
      // Looks again if other requests took all that was found.
      if (found.length === 0 && unknown.length === 0) return null;
      await eachInParallel(new Set(unknown.map(({ note }) => note.gateway)), async (gateway) => {
        lives.set(gateway, await this.pulse.isBeating(gateway));
      });
    }
  }

  private async findCut(
    runs: readonly AskedRun[],
    lives: ReadonlyMap<string, boolean>,
  ): Promise<readonly AskedRun[]> {
    const isLost = ({ state, gateway, sending }: AskedNote): boolean => {
      if (state !== 'told') return false;
      return gateway === this.pulse.gateway ? !this.sendings.has(sending) : lives.get(gateway) === false;
    };
    const lost = runs.filter(({ note }) => isLost(note));
    return [...lost, ...(await this.findSince(REPEAT_MS, runs, ['cut', 'failed']))];
  }

  /** Finds the run that a client means which says that it asks again. */
  private async findLatest(runs: readonly AskedRun[]): Promise<readonly AskedRun[]> {
    const sent = runs.filter(({ note }) => note.state === 'told');
    const ended = sent.length > 0 ? [] : await this.findSince(RETRY_MS, runs, ['cut', 'whole']);
    return [...sent, ...ended].slice(0, 1);
  }

  private async findSince(
    ms: number,
    runs: readonly AskedRun[],
    states: readonly AskedNote['state'][],
  ): Promise<readonly AskedRun[]> {
    const ended = runs.filter(({ note }) => states.includes(note.state));
    if (ended.length === 0) return [];
    const since = await timeAgo(this.store, ms);
    return ended.filter(({ changedAt }) => changedAt >= since);
  }

  private isSentElsewhere({ state, gateway }: AskedNote): boolean {
    return state === 'told' && gateway !== this.pulse.gateway;
  }
}

/** Removes notes that no request can need: of answers that ended long ago, and of runs that are over by now. */
export async function forgetHandovers(store: Store): Promise<void> {
  const than = await timeAgo(store, RETRY_MS);
  const longAgo = new Date(than.getTime() + RETRY_MS - MAX_WALL_CLOCK_MS);
  await eachInParallel(store.entries(ASKED_RUNS), async ({ key, modifiedAt }) => {
    if (modifiedAt >= than) return;
    // One that another version wrote is as old as that.
    const note = modifiedAt < longAgo ? null : await readAskedNote(store, key).catch(() => null);
    if (note?.state !== 'told') await store.removeOlder(key, than);
  });
}

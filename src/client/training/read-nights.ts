import { z } from 'zod';
import { canaryKey, gateKey } from '../../training/keys';
import type { CycleMetrics } from '../../training/progress';
import type { Store } from '../../store/store';
import { readMetrics } from './read-cycles';

/** A night as it lies in the store. */
export interface NightRecord {
  /** Local calendar date. */
  readonly night: string;
  /** The cycles that are over, the first one first. */
  readonly cycles: readonly CycleMetrics[];
  /** What the gate and the canary decided, in sentences; empty while the night was not judged. */
  readonly decisions: readonly string[];
}

/** Names of all training runs in the store, in alphabetical order. */
export async function listTrainRuns(store: Store): Promise<string[]> {
  const runs = new Set<string>();
  for await (const { key } of store.entries('training/')) {
    const [, run] = /^training\/([^/]+)\/metrics\//.exec(key) ?? [];
    if (run !== undefined) runs.add(run);
  }
  return [...runs].sort();
}

/** The nights of a training run, the first one first; empty where no cycle of one is over. */
export async function readNights(store: Store, trainRun: string): Promise<NightRecord[]> {
  const metrics = await readMetrics(store, trainRun);
  const dates = [...new Set(metrics.map(({ night }) => night))].sort();
  return Promise.all(
    dates.map(async (night) => ({
      night,
      cycles: metrics.filter((cycle) => cycle.night === night),
      decisions: await readDecisions(store, trainRun, night),
    })),
  );
}

const decisionSchema = z.object({ sentence: z.string() });

async function readDecisions(store: Store, trainRun: string, night: string): Promise<string[]> {
  const keys = [gateKey(trainRun, night), canaryKey(trainRun, night)];
  const kept = await Promise.all(keys.map((key) => store.read(key)));
  return kept.flatMap((bytes) =>
    bytes === null ? [] : [decisionSchema.parse(JSON.parse(bytes.toString('utf8'))).sentence],
  );
}

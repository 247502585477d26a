import { type Amount, boundOf } from '../../src/budget/amount';
import type { HeldLimits, SolveResult } from '../../src';
import { Turns } from '../../src/runtime/turns';
import { endOf } from '../support/until';
import { readLedger, spentBy } from '../support/ledger-of';
import { openStage } from '../support/stage';
import { PRICE, type RandomRun, randomRuns, randomSimulation, tagIn, WORKERS } from './random-runs';

/** Seed of the runs; `LIMITS_SEED=2 npx jest test/limits` tries others. */
const SEED = Number(process.env.LIMITS_SEED ?? 1);
const RUNS = 100;
const AT_ONCE = 20;

/** A run that has ended, and the bound on its spending. */
interface EndedRun {
  readonly run: RandomRun;
  readonly result: SolveResult;
  readonly bound: Amount;
}

test(`${RUNS} whole runs keep within their limits and report exactly what they spent (seed ${SEED})`, async () => {
  const stage = await openStage({
    workers: WORKERS,
    simulation: randomSimulation(SEED),
    configure: (config) => ({
      ...config,
      recursion: 'both',
      workers: config.workers.map((worker, index) => {
        const fallback = index === 0 ? { fallback: ['b'] } : {};
        return { ...worker, price: PRICE, maxOutputTokens: 500, ...fallback } as typeof worker;
      }),
    }),
  });
  const { client, providers } = stage;

  const make = async (run: RandomRun): Promise<EndedRun> => {
    const { tag, limits, change, maxDepth } = run;
    const { id } = await client.start({ question: `${tag} What is left in the end?`, limits });
    const [held] = await Promise.allSettled([
      change === null ? Promise.reject(new Error('no change')) : client.setLimits(id, change),
      client.setMaxDepth(id, maxDepth),
    ]);
    const result = await endOf(stage, id);
    return { run, result, bound: boundFor(run, held.status === 'fulfilled' ? held.value : null) };
  };

  try {
    const turns = new Turns(AT_ONCE);
    const ended = await stage.whileWorking(() =>
      Promise.all(randomRuns(SEED, RUNS).map((run) => turns.take(() => make(run)))),
    );
    const rows = await readLedger(stage.store);
    for (const { run, result, bound } of ended) {
      const own = rows.filter(({ rootId }) => rootId === result.id);
      const bill = spentBy(providers.log.filter(({ body }) => tagIn(body) === run.tag));
      expect(spentBy(result.calls)).toEqual(spentBy(own));
      expect(result.costUsd).toBe(spentBy(own).nanoUsd / 1e9);
      expect(own).toHaveLength(bill.calls);
      expect({ ...run, over: overrun(bill, result.spentAtMost ?? bill) }).toEqual({ ...run, over: [] });
      expect({ ...run, over: overrun(result.spentAtMost ?? bill, bound) }).toEqual({ ...run, over: [] });
    }
    // Checks that the runs included stops by each limit, children and complete answers.
    const all = ended.map(({ result }) => result);
    for (const limit of ['calls', 'tokens', 'cost']) {
      expect(all.map(({ stoppedBy }) => stoppedBy)).toContain(limit);
    }
    expect(all.filter(({ rounds }) => rounds.some(({ depth }) => depth === 2))).not.toEqual([]);
    expect(all.filter(({ status }) => status === 'completed').length).toBeGreaterThan(RUNS / 3);
  } finally {
    await stage.close();
  }
}, 600_000);

/** Bound on a run's spending: its limits at the start, or those that held after the change. */
function boundFor({ limits }: RandomRun, held: HeldLimits | null): Amount {
  const { calls = 40, tokens = null, costUsd = null } = held ?? limits;
  return boundOf({ calls, tokens, nanoUsd: costUsd === null ? null : Math.round(costUsd * 1e9) });
}

/** Names what was spent beyond a bound. */
function overrun(spent: Amount, bound: Amount): string[] {
  const measures = ['calls', 'tokens', 'nanoUsd'] as const;
  return measures
    .filter((measure) => spent[measure] > bound[measure])
    .map((measure) => `${measure}: ${spent[measure]} of ${bound[measure]}`);
}

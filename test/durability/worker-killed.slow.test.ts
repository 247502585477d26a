import { renderPlan, type SolveResult } from '../../src';
import { callOf } from '../../src/store/ledger';
import { openStage, step, type Stage } from '../support/stage';
import { until } from '../support/until';
import type { Halt } from './halting-store';
import { keptAnswers } from './kept-answers';
import { startWorkerProcess } from './worker-process';

// A busy machine takes long to start so many processes.
jest.setTimeout(240_000);

/** A moment of a solve: where the worker halts, and whose requests the provider holds open. */
interface Moment {
  readonly name: string;
  readonly halt?: Halt;
  readonly open?: readonly string[];
  /** Models asked by then, and those whose answer was kept: proof that this moment was met. */
  readonly asked: readonly string[];
  readonly kept: readonly string[];
  /** Models whose ledger row stays open for good, because nobody knows how their call ended. */
  readonly lost: readonly string[];
  /** Number of calls that are reported to have lost their worker process. */
  readonly told?: number;
}

const conductor = { of: 'conductor' } as const;
const MOMENTS: readonly Moment[] = [
  {
    name: 'before anything is sent or written',
    halt: { when: 'before', write: 'row', ...conductor },
    asked: [],
    kept: [],
    lost: [],
  },
  {
    name: 'while the plan is being written',
    open: ['conductor'],
    asked: ['conductor'],
    kept: [],
    lost: ['conductor'],
  },
  {
    name: "after the plan's last byte, before it is kept",
    halt: { when: 'before', write: 'answer', ...conductor },
    asked: ['conductor'],
    kept: [],
    lost: ['conductor'],
  },
  {
    name: 'when the plan is kept, and its row still open',
    halt: { when: 'after', write: 'answer', ...conductor, oneByOne: true },
    asked: ['conductor'],
    kept: ['conductor'],
    lost: [],
  },
  {
    name: 'when the plan is booked, before Temporal knows of it',
    halt: { when: 'after', write: 'completed row', ...conductor, oneByOne: true },
    asked: ['conductor'],
    kept: ['conductor'],
    lost: [],
  },
  {
    name: 'while both steps of the first wave are under way',
    open: ['a', 'b'],
    asked: ['conductor', 'a', 'b'],
    kept: ['conductor'],
    lost: ['a', 'b'],
    told: 2,
  },
  {
    name: 'when one of the two is kept, and the other under way',
    halt: { when: 'after', write: 'answer', of: 'a' },
    open: ['b'],
    asked: ['conductor', 'a', 'b'],
    kept: ['conductor', 'a'],
    lost: ['b'],
  },
  {
    name: 'between the waves: the last row is written, nothing sent',
    halt: { when: 'after', write: 'row', of: 'c' },
    asked: ['conductor', 'a', 'b'],
    kept: ['conductor', 'a', 'b'],
    lost: ['c'],
  },
  {
    name: 'during the last call',
    open: ['c'],
    asked: ['conductor', 'a', 'b', 'c'],
    kept: ['conductor', 'a', 'b'],
    lost: ['c'],
  },
  {
    name: 'when the last answer is kept, before Temporal knows of it',
    halt: { when: 'after', write: 'answer', of: 'c' },
    asked: ['conductor', 'a', 'b', 'c'],
    kept: ['conductor', 'a', 'b', 'c'],
    lost: [],
  },
];

const WORKERS = ['a', 'b', 'c'];
const EVERYBODY = ['conductor', ...WORKERS];
const STEPS = [step('a', 'One side.'), step('b', 'The other side.'), step('c', 'Put together.', [0, 1])];
const QUESTION = 'What is left after a crash?';
const HEARTBEAT_MS = 4000;

describe('kill -9 of the worker', () => {
  // The tests mostly wait for time-outs, so they run concurrently.
  test.concurrent.each(MOMENTS)('$name', async (moment) => {
    const stage = await openStage({
      workers: WORKERS,
      config: { temporal: { heartbeat: `${HEARTBEAT_MS}ms` } },
    });
    try {
      stage.providers.answer('conductor', renderPlan({ steps: STEPS }, WORKERS));
      const id = await runUntilKilled(stage, moment);
      expect({ asked: asked(stage), kept: await keptAnswers(stage.store) }).toEqual({
        asked: [...moment.asked].sort(),
        kept: [...moment.kept].sort(),
      });
      if (moment.told !== undefined) await untilTold(stage, id, moment.told);

      const [result, undisturbed] = await stage.whileWorking(async () => [
        await ended(stage, id),
        await stage.client.solve({ question: QUESTION }),
      ]);
      expect(result).toMatchObject({ status: 'completed', degraded: false, answer: undisturbed.answer });
      expect(requestsBy(stage)).toEqual(expectedRequests(moment));
      await expectAccounted(stage, id, result, moment);
    } finally {
      await stage.close();
    }
  });
});

/** Runs a solve in a worker process of its own, kills the process at the moment, and returns the run's id. */
async function runUntilKilled(stage: Stage, { halt, open = [] }: Moment): Promise<string> {
  const release = open.map((model) => stage.providers.hold(model));
  const worker = await startWorkerProcess(stage, halt ?? null);
  try {
    const { id } = await stage.client.start({ question: QUESTION });
    await Promise.all([
      ...open.map((name) => stage.providers.waitForRequest(({ model }) => model === name)),
      ...(halt === undefined ? [] : [worker.nextMessage()]),
    ]);
    return id;
  } finally {
    await worker.kill();
    release.forEach((letGo) => {
      letGo();
    });
  }
}

/** Waits until the server reports that this many calls wait for another worker process. */
async function untilTold(stage: Stage, id: string, count: number): Promise<void> {
  await until(
    () => stage.client.retries(id),
    (found) => found.filter(({ reason }) => reason.includes(' lost its worker process')).length === count,
  );
}

async function ended(stage: Stage, id: string): Promise<SolveResult> {
  await stage.temporal.client.workflow.getHandle(id).result();
  return stage.client.trace(id);
}

function asked({ providers }: Stage): string[] {
  return providers.log.map(({ model }) => model ?? '').sort();
}

/** Returns the number of requests that each model received. */
function requestsBy({ providers }: Stage): Record<string, number> {
  return Object.fromEntries(
    EVERYBODY.map((name) => [name, providers.log.filter(({ model }) => model === name).length]),
  );
}

/** Returns one for the run, one for the undisturbed run, and one more only if an answer was not kept. */
function expectedRequests({ asked, kept }: Moment): Record<string, number> {
  const again = (name: string): number => (asked.includes(name) && !kept.includes(name) ? 1 : 0);
  return Object.fromEntries(EVERYBODY.map((name) => [name, 2 + again(name)]));
}

/** Checks that every request has a row, that the trace lists all rows, and that lost calls leave a lower bound. */
async function expectAccounted(stage: Stage, id: string, result: SolveResult, moment: Moment): Promise<void> {
  const rows = await stage.rows(id);
  const open = rows.filter(({ endedAt }) => endedAt === null);
  expect(open.map(({ worker }) => worker).sort()).toEqual([...moment.lost].sort());
  expect(open.every(({ nanoUsd }) => nanoUsd === null)).toBe(true);
  expect(rows).toHaveLength(EVERYBODY.length + moment.lost.length);
  expect(result.calls).toEqual(expect.arrayContaining(rows.map(callOf)));
  expect(result.calls).toHaveLength(rows.length);
  expect(result.costIsLowerBound).toBe(open.length > 0);
}

import { renderPlan } from '../../src';
import type { LedgerRow } from '../../src/store/ledger';
import type { RequestRecord } from '../../src/testing';
import { openStage, step, type Stage } from '../support/stage';
import { endOf } from '../support/until';
import type { Halt } from './halting-store';
import { startWorkerProcess } from './worker-process';

const PRICE = { input: 2, output: 10 };
const QUESTION = 'Who waits for whom?';

interface Setting {
  /** Heartbeat time-out, after which a killed worker is noticed. */
  readonly heartbeat: string;
  /** Time limit of worker a. */
  readonly timeout?: string;
}

const SOON: Setting = { heartbeat: '4s' };
/** Long enough that a worker on a busy machine is not taken for dead. */
const LATE: Setting = { heartbeat: '20s' };
const BRIEF: Setting = { ...LATE, timeout: '4s' };

/** Opens a stage on which worker a answers in the background, and its fallback b over a held connection. */
async function openBackstage({ heartbeat, timeout = '10m' }: Setting): Promise<Stage> {
  const stage = await openStage({
    workers: ['a', 'b'],
    simulation: { fallback: { price: PRICE } },
    configure: ({ workers, ...config }) => ({
      ...config,
      temporal: { heartbeat },
      workers: workers.map((worker) =>
        worker.provider === 'openai' && worker.id === 'a'
          ? { ...worker, api: 'responses', background: true, timeout, fallback: ['b'] }
          : worker,
      ),
    }),
  });
  const plan = { steps: [step('a', 'Take your time.')] };
  stage.providers.answer('conductor', renderPlan(plan, ['a', 'b']));
  return stage;
}

function start({ client }: Stage): Promise<{ id: string }> {
  return client.start({ question: QUESTION });
}

const isCreate = ({ model, path }: RequestRecord): boolean => model === 'a' && path === '/v1/responses';
const isLook = ({ model, path }: RequestRecord): boolean => model === 'a' && /\/resp_\d+$/.test(path);

function creates({ providers }: Stage): readonly RequestRecord[] {
  return providers.log.filter(isCreate);
}

async function rowsOfA(stage: Stage, id: string): Promise<LedgerRow[]> {
  return (await stage.rows(id)).filter(({ worker }) => worker === 'a');
}

/** Returns the error type and the cost of each of a's requests. */
async function booked(stage: Stage, id: string): Promise<(readonly [string | undefined, number | null])[]> {
  return (await rowsOfA(stage, id)).map(({ error, nanoUsd }) => [error?.type, nanoUsd]);
}

/** Waits for a poll of the answer that comes after everything logged so far. */
async function nextLook({ providers }: Stage): Promise<void> {
  const before = providers.log.length;
  await providers.waitForRequest((record) => record.sequence > before && isLook(record));
}

/** Starts a solve in a worker process, kills that process during a's call, and returns the run's id. */
async function killWorker(stage: Stage, halt: Halt | null): Promise<string> {
  const worker = await startWorkerProcess(stage, halt);
  const { id } = await start(stage);
  await (halt === null ? nextLook(stage) : worker.nextMessage());
  await worker.kill();
  return id;
}

/** Runs a test on a stage of its own, concurrently with the others. */
function backstage(name: string, setting: Setting, act: (stage: Stage) => Promise<void>): void {
  test.concurrent(name, async () => {
    const stage = await openBackstage(setting);
    try {
      await act(stage);
    } finally {
      await stage.close();
    }
  });
}

describe('a call in the background', () => {
  backstage('survives kill -9 of its worker: another one comes for the same answer', SOON, async (stage) => {
    const letGo = stage.providers.hold('a');
    const id = await killWorker(stage, null);
    letGo();
    const result = await stage.whileWorking(() => endOf(stage, id));
    expect(result).toMatchObject({ status: 'completed', degraded: false });
    const [created, ...again] = creates(stage);
    expect(again).toEqual([]);
    expect(await rowsOfA(stage, id)).toEqual([
      expect.objectContaining({ attempt: 1, error: null, usage: created?.usage, nanoUsd: created?.nanoUsd }),
    ]);
  });

  backstage(
    'is bought once more where the worker dies before the id is kept: both count',
    SOON,
    async (stage) => {
      const id = await killWorker(stage, { when: 'before', write: 'id', of: 'a' });
      const result = await stage.whileWorking(() => endOf(stage, id));
      expect(result).toMatchObject({ status: 'completed', degraded: false, costIsLowerBound: true });
      expect(creates(stage)).toHaveLength(2);
      expect(await rowsOfA(stage, id)).toEqual([
        expect.objectContaining({ attempt: 1, endedAt: null, nanoUsd: null }),
        expect.objectContaining({ attempt: 2, error: null, nanoUsd: creates(stage)[1]?.nanoUsd }),
      ]);
    },
  );

  backstage('outlives a worker that is asked to stop, too', LATE, async (stage) => {
    const letGo = stage.providers.hold('a');
    const id = await stage.whileWorking(async () => {
      const run = await start(stage);
      await nextLook(stage);
      return run.id;
    });
    expect(await rowsOfA(stage, id)).toEqual([expect.objectContaining({ endedAt: null })]);
    letGo();
    const result = await stage.whileWorking(() => endOf(stage, id));
    expect(result).toMatchObject({ status: 'completed', degraded: false });
    expect(creates(stage)).toHaveLength(1);
    expect(await rowsOfA(stage, id)).toHaveLength(1);
  });

  backstage('survives looks that fail, without another request', LATE, async (stage) => {
    stage.providers.scriptLookups('a', [{ fault: 'server-error' }, { fault: 'reset' }]);
    const result = await stage.solve({ question: QUESTION });
    expect(result).toMatchObject({ status: 'completed', degraded: false });
    expect(stage.providers.log.filter(isLook).map(({ outcome }) => outcome)).toEqual([
      'fault:server-error',
      'fault:reset',
      'answered',
    ]);
    expect(creates(stage)).toHaveLength(1);
    expect(await rowsOfA(stage, result.id)).toHaveLength(1);
  });

  backstage('is cancelled at the vendor with its run, also by another worker', SOON, async (stage) => {
    stage.providers.script('a', [{ text: 'Never written.', delayMs: 600_000 }]);
    const id = await killWorker(stage, null);
    const result = await stage.whileWorking(async () => {
      await nextLook(stage);
      await stage.client.cancel(id);
      return endOf(stage, id);
    });
    expect(result.status).toBe('cancelled');
    const [created, ...again] = creates(stage);
    expect(again).toEqual([]);
    expect(created).toMatchObject({ outcome: 'cancelled', usage: { outputTokens: 0 } });
    // The vendor reports what was used until then, so even this amount is known.
    expect(await rowsOfA(stage, id)).toEqual([
      expect.objectContaining({
        error: expect.objectContaining({ type: 'Run.Cancelled' }) as unknown,
        nanoUsd: created?.nanoUsd,
      }),
    ]);
  });

  backstage(
    'that takes longer than its card allows is cancelled, and fails as a time-out',
    BRIEF,
    async (stage) => {
      stage.providers.hold('a');
      const result = await stage.solve({ question: QUESTION });
      expect(result).toMatchObject({ status: 'completed', degraded: true, costIsLowerBound: true });
      expect(result.rounds[0]?.steps[0]).toMatchObject({ worker: 'b', fallbackFor: 'a' });
      // The call may be bought once more, as after any time-out.
      expect(creates(stage).map(({ outcome }) => outcome)).toEqual(['cancelled', 'cancelled']);
      expect(await booked(stage, result.id)).toEqual([
        ['Provider.Timeout', null],
        ['Provider.Timeout', null],
      ]);
    },
  );

  backstage('that the vendor fails in the end is asked for again, at no cost', LATE, async (stage) => {
    stage.providers.script('a', [{ fault: 'server-error', late: true }]);
    const result = await stage.solve({ question: QUESTION });
    expect(result).toMatchObject({ status: 'completed', degraded: false });
    expect(await booked(stage, result.id)).toEqual([
      ['Provider.Unavailable', 0],
      [undefined, creates(stage)[1]?.nanoUsd],
    ]);
  });

  backstage('that the vendor has lost may have been billed, and is bought once more', LATE, async (stage) => {
    stage.providers.scriptLookups('a', [{ fault: 'not-found' }]);
    const result = await stage.solve({ question: QUESTION });
    expect(result).toMatchObject({ status: 'completed', degraded: false, costIsLowerBound: true });
    expect(await booked(stage, result.id)).toEqual([
      ['Provider.Interrupted', null],
      [undefined, creates(stage)[1]?.nanoUsd],
    ]);
  });
});

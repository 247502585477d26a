import { EventEmitter, once } from 'node:events';
import type { Context } from '@temporalio/activity';
import type { WorkerInterceptors } from '@temporalio/worker';
import { CALL_WORKER, SOLVE_WORKFLOW } from '../../../src/protocol/names';
import { openScriptedTraining, type ScriptedTraining } from '../../support/scripted-training';
import { until } from '../../support/until';

jest.setTimeout(300_000);

/** Start of an activity on a worker. */
interface ActivityStart {
  /** Type of the activity's workflow. */
  readonly of: string;
  readonly type: string;
  readonly taskQueue: string;
  /** Number of other activities of its task queue that were running. */
  readonly beside: number;
}

/** Records the starts of activities in order, and can hold each one. */
class ActivityStarts {
  readonly seen: ActivityStart[] = [];
  private readonly underWay = new Map<string, number>();

  /** @param hold called when an activity has started; the activity continues when the promise is fulfilled */
  constructor(private readonly hold: (start: ActivityStart) => Promise<void> = () => Promise.resolve()) {}

  readonly interceptors: WorkerInterceptors = {
    activity: [
      (context) => ({ inbound: { execute: (input, next) => this.execute(context, () => next(input)) } }),
    ],
  };

  private async execute({ info }: Context, work: () => Promise<unknown>): Promise<unknown> {
    const { taskQueue } = info;
    const beside = this.underWay.get(taskQueue) ?? 0;
    const start = { of: info.workflowType ?? '', type: info.activityType, taskQueue, beside };
    this.seen.push(start);
    this.underWay.set(taskQueue, beside + 1);
    try {
      await this.hold(start);
      return await work();
    } finally {
      this.underWay.set(taskQueue, (this.underWay.get(taskQueue) ?? 1) - 1);
    }
  }
}

const ONE_SLOT = { maxConcurrentActivityTaskExecutions: 1 };
const NIGHT = { questions: 2, groupSize: 8, window: 8, maxDraws: 2 };

let stage: ScriptedTraining;
afterEach(() => stage.close());

const start = () => stage.training.start({ trainRun: stage.trainRun, date: '2026-01-10' });

/** Whether a solve has a pending activity or is over. */
async function isWaitingOrOver(id: string): Promise<boolean> {
  const { status, raw } = await stage.temporal.client.workflow.getHandle(id).describe();
  return status.name !== 'RUNNING' || (raw.pendingActivities ?? []).length > 0;
}

test('an activity of a solve waits only for running nightly activities, not for queued ones', async () => {
  // An activity that is held sends no heartbeat.
  stage = await openScriptedTraining({ training: NIGHT, heartbeat: '1m' });
  const events = new EventEmitter();
  const busy = once(events, 'busy');
  const solving = once(events, 'solving') as Promise<[string]>;
  // Worst case: a nightly activity that has started lasts until the solve waits for its slot.
  const starts = new ActivityStarts(async ({ of, type }: ActivityStart) => {
    if (of === SOLVE_WORKFLOW || (!isBusy() && type !== CALL_WORKER)) return;
    events.emit('busy');
    const [id] = await solving;
    await until(() => isWaitingOrOver(id), Boolean);
  });
  const isBusy = () => starts.seen.some(({ type }) => type === CALL_WORKER);
  let before = 0;
  await stage.whileWorking(
    async () => {
      await start();
      await busy;
      before = starts.seen.length;
      const { id } = await stage.client.start({ question: 'How soon?' });
      await until(() => isWaitingOrOver(id), Boolean);
      events.emit('solving', id);
      await stage.temporal.client.workflow.getHandle(id).result();
      await stage.result();
    },
    { ...ONE_SLOT, interceptors: starts.interceptors },
  );

  const order = starts.seen.slice(before).map(({ of }) => (of === SOLVE_WORKFLOW ? 'solve' : 'night'));
  const waits = order.join(' ').split('solve').slice(0, -1);
  // The first activity resolves the configuration, without a wait. Later ones wait for the activity that runs, and for
  // another one if the server handed it out before the solve's activity was in the queue.
  const atMostTwo = expect.stringMatching(/^( night){0,2} $/) as unknown;
  expect(waits).toEqual(['', atMostTwo, atMostTwo]);
  expect(order.filter((of) => of === 'night').length).toBeGreaterThan(10);
});

test('nights with their own slots take none of the others', async () => {
  stage = await openScriptedTraining({ training: { ...NIGHT, slots: 2 } });
  const starts = new ActivityStarts();
  const letGo = stage.providers.hold('a');
  await stage.whileWorking(
    async () => {
      await start();
      await stage.providers.waitForLog((log) => log.filter(({ model }) => model === 'a').length === 2);
      const { status } = await stage.client.solve({ question: 'How soon?' });
      expect(status).toBe('completed');
      letGo();
      expect(await stage.result()).toMatchObject({ status: 'done', done: 1 });
    },
    { ...ONE_SLOT, interceptors: starts.interceptors },
  );

  const groups = starts.seen.filter(({ of }) => of === 'conductorTrainGroup');
  expect(new Set(groups.map(({ taskQueue }) => taskQueue))).toEqual(new Set([`${stage.taskQueue}-nights`]));
  expect(Math.max(...groups.map(({ beside }) => beside))).toBe(1);
});

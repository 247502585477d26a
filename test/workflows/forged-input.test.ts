import { type ApplicationFailure, type WorkflowFailedError } from '@temporalio/client';
import { Worker } from '@temporalio/worker';
import { parseConfig } from '../../src/config/load';
import { resolveRun } from '../../src/config/resolve-run';
import type { SolveInput } from '../../src';
import { SOLVE_WORKFLOW } from '../../src/protocol/names';
import type { ResolvedRun, RunWorker } from '../../src/protocol/cards';
import { step, useStage } from './stage';
import { testTaskQueue } from '../support/temporal';

/*
 * Any client may start a solve with a forged resolved run. Model cards are checked before a model is called
 * (`config/api-keys.ts`); whatever a workflow calls by itself must be known, too.
 */

const AGENTS = testTaskQueue();
const OTHERS = testTaskQueue();

const stage = useStage({
  workers: ['a', 'agent'],
  configure: (config) => ({
    ...config,
    workers: config.workers.map((worker) =>
      worker.id === 'agent'
        ? { id: 'agent', provider: 'activity', type: 'research', taskQueue: AGENTS, timeout: '60s' }
        : worker,
    ),
  }),
});

function solveWith(id: string, input: SolveInput): Promise<unknown> {
  return stage.temporal.client.workflow.execute(SOLVE_WORKFLOW, {
    workflowId: `${stage.taskQueue}-${id}`,
    taskQueue: stage.taskQueue,
    args: [input],
    workflowExecutionTimeout: '90s',
  });
}

async function failureOf(solved: Promise<unknown>): Promise<ApplicationFailure> {
  const failed: unknown = await solved.catch((error: unknown) => error);
  return (failed as WorkflowFailedError).cause as ApplicationFailure;
}

/** Starts a solve with the configuration's resolved run, altered by `change`. */
function solveGiven(id: string, change: (run: ResolvedRun) => Partial<ResolvedRun>): Promise<unknown> {
  const run = resolveRun(parseConfig(stage.config));
  return solveWith(id, { question: 'Who are you?', run: { ...run, ...change(run) } });
}

/** Runs a worker whose activities only record that they were called. */
async function whileListening<T>(taskQueue: string, calls: string[], work: () => Promise<T>): Promise<T> {
  const note = (name: string) => () => {
    calls.push(name);
    return { text: 'done' };
  };
  const activities = { research: note('research'), wipeDisk: note('wipeDisk') };
  const connection = stage.temporal.nativeConnection;
  const worker = await Worker.create({ connection, taskQueue, activities });
  return worker.runUntil(() => stage.whileWorking(work));
}

const withAgent =
  (change: object) =>
  ({ workers }: ResolvedRun): Partial<ResolvedRun> => ({
    workers: workers.map((worker): RunWorker => (worker.id === 'agent' ? { ...worker, ...change } : worker)),
  });

test.each([
  ['activity', AGENTS, { type: 'wipeDisk' }],
  ['queue', OTHERS, { taskQueue: OTHERS }],
  ['workflow', AGENTS, { kind: 'workflow' }],
] as const)(
  'a given run cannot name any %s that the configuration does not',
  async (name, taskQueue, change) => {
    stage.plan([step('agent', 'Do it.')]);
    const calls: string[] = [];
    const solved = whileListening(taskQueue, calls, () => solveGiven(name, withAgent(change)));
    const { type, message } = await failureOf(solved);
    expect(type).toBe('Configuration.Invalid');
    expect(message).toMatch(
      /^the run names the (activity|workflow) \S+ on task queue \S+, which is not in this worker process's configuration: /,
    );
    expect(calls).toEqual([]);
  },
);

test('a given run cannot use a queue per provider if the configuration does not', async () => {
  const solved = stage.whileWorking(() => solveGiven('queues', () => ({ queuePerProvider: true })));
  const message: unknown = expect.stringContaining('a queue of its own for provider openai');
  expect(await failureOf(solved)).toMatchObject({ type: 'Configuration.Invalid', message });
});

test('a client cannot start a solve as if it were a child', async () => {
  const run = resolveRun(parseConfig(stage.config));
  const parent = { rootId: 'root', depth: 1, round: 0, run, background: [], hints: [] };
  const solved = stage.whileWorking(() => solveWith('child', { question: 'Who are you?', parent }));
  expect(await failureOf(solved)).toMatchObject({ type: 'Solve.BadInput' });
});

test('an activity that the configuration names is called', async () => {
  stage.plan([step('agent', 'Do it.')]);
  const calls: string[] = [];
  const solved = await whileListening(AGENTS, calls, () => solveGiven('known', withAgent({})));
  expect(solved).toMatchObject({ status: 'completed', answer: 'done' });
  expect(calls).toEqual(['research']);
});

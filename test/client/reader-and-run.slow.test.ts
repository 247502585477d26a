import { join } from 'node:path';
import { type InjectedSinks, bundleWorkflowCode, DefaultLogger, Worker } from '@temporalio/worker';
import { type ConductorClient, type Plan, type SolveInput, type SolveTrace, renderPlan } from '../../src';
import { HistoryDecoder, type TemporalEvent } from '../../src/client/history';
import { TraceReader } from '../../src/client/trace-reader';
import { isRecord } from '../../src/plan/validate';
import type { ToolRequest } from '../../src/protocol/tool-use';
import { Turns } from '../../src/runtime/turns';
import type { Reply } from '../../src/testing';
import { ACCEPT, type Stage, step, useStage } from '../support/stage';
import { testTaskQueue } from '../support/temporal';
import { until } from '../support/until';
import { withoutTimes } from '../support/without-times';
import type { StateSinks } from './report-state';

const TOOLS_QUEUE = testTaskQueue();
const WORKERS = ['a', 'b', 'c', 'conductor'];
/** Runs at once. */
const AT_ONCE = 8;

/** Where a run's first plan comes from; `kept` has all outputs of an earlier run, `given` the first one. */
const SOURCES = ['written', 'stand-in', 'given', 'kept'] as const;
const APPROVALS = [undefined, 'plan', 'all'] as const;
const VERDICTS = ['approve', 'edit', 'reject'] as const;

interface Case {
  readonly tag: string;
  readonly source: (typeof SOURCES)[number];
  readonly approval: (typeof APPROVALS)[number];
  /** Verdict on the first plan of the run itself; every other plan is approved. */
  readonly verdict: (typeof VERDICTS)[number];
  readonly depth: number;
}

const CASES: Case[] = SOURCES.flatMap((source) =>
  APPROVALS.flatMap((approval) =>
    (approval === undefined ? (['approve'] as const) : VERDICTS).flatMap((verdict) =>
      [0, 1].map((depth) => {
        const tag = `[${source}, ${approval ?? 'unasked'}, ${verdict}, ${depth}]`;
        return { tag, source, approval, verdict, depth };
      }),
    ),
  ),
);

/** The question of a run whose worker `c` calls tools; in the other runs, it only answers. */
const TOOLED = '[tools]';

const stage = useStage({
  config: {
    recursion: 'both',
    tools: {
      shelf: {
        mcp: { command: [process.execPath, join(__dirname, '../support/tools-server.cjs')] },
        allow: ['look_up', 'order', 'broken', 'die'],
        repeatable: ['look_up'],
        price: { perCall: 0.001 },
      },
      stock: {
        activity: { type: 'countStock', taskQueue: TOOLS_QUEUE },
        description: 'Counts the stock.',
        price: { perCall: 0.002 },
        input: { type: 'object', properties: { item: { type: 'string' } } },
      },
    },
  },
  configure: (config) => ({
    ...config,
    workers: config.workers.map((worker) =>
      worker.id === 'c' ? { ...worker, tools: ['shelf', 'stock'], fallback: ['b'] } : worker,
    ),
  }),
});

test('the trace read from a history equals what the run itself tells, after each workflow task', async () => {
  const replies = new Map(CASES.map((each) => [each.tag, repliesFor(each)]));
  replies.set(TOOLED, [renderPlan({ steps: [step('c', `Look it up. ${TOOLED}`)] }, WORKERS.slice(0, 3))]);
  const turns = turnsWithTools();
  stage.providers.answer('c', ({ text }) =>
    text.includes(TOOLED) ? (turns.shift() ?? { fault: 'refusal' }) : 'Said.',
  );
  stage.providers.answer('conductor', ({ text }) => {
    const tag = [...replies.keys()].find((each) => text.includes(each)) ?? '';
    return replies.get(tag)?.shift() ?? ACCEPT;
  });
  const states = new Map<string, { state: SolveTrace; activation: number }>();
  const report: InjectedSinks<StateSinks>['states']['report'] = {
    fn: ({ runId }, state, { activation, historyLength }) => {
      const task = `${runId}/${historyLength}`;
      // Reports may come in another order.
      if (activation > (states.get(task)?.activation ?? 0)) states.set(task, { state, activation });
    },
    callDuringReplay: false,
  };
  const workflowBundle = await bundleWorkflowCode({
    workflowsPath: require.resolve('../../src/workflows'),
    workflowInterceptorModules: [require.resolve('./report-state')],
    logger: new DefaultLogger('ERROR'),
  });
  const places = new Turns(AT_ONCE);
  const playAll = (): Promise<unknown> =>
    Promise.all([playCaller(stage.client), ...CASES.map((each) => places.take(() => play(stage, each)))]);
  const own = await Worker.create({
    connection: stage.temporal.nativeConnection,
    taskQueue: TOOLS_QUEUE,
    activities: {
      countStock: ({ turn }: ToolRequest) =>
        turn === 3 ? Promise.reject(new Error('no such shelf')) : Promise.resolve({ pieces: 7 }),
    },
  });
  await own.runUntil(() => stage.whileWorking(playAll, { workflowBundle, sinks: { states: { report } } }));

  let [compared, called] = [0, 0];
  for await (const { workflowId, runId } of stage.temporal.client.workflow.list({
    query: `TaskQueue = '${stage.taskQueue}'`,
  })) {
    for (const { at, told } of await readTraces(stage, workflowId)) {
      const state = states.get(`${runId}/${at}`)?.state;
      expect({ workflowId, at, state: withoutTimes(told) }).toEqual({
        workflowId,
        at,
        state: withoutTimes(state),
      });
      compared += 1;
      called += told.rounds.filter(({ steps }) => steps.some((each) => each.turns !== undefined)).length;
    }
  }
  expect(compared).toBeGreaterThan(CASES.length * 3);
  expect(called).toBeGreaterThan(turnsWithTools().length);
}, 300_000);

/** Runs a solve with functions of the caller, and carries them out. */
async function playCaller(client: ConductorClient): Promise<void> {
  const tools = [{ name: 'run_command', parameters: { type: 'object' } }];
  const { id } = await client.start({ question: `Who knows? ${TOOLED}`, limits: { depth: 0 }, tools });
  for await (const event of client.stream(id)) {
    if (event.kind !== 'callsWaiting') continue;
    // One by one, so that the run is looked at while it waits for the other.
    for (const { id: call } of event.calls) await client.submit([{ call, output: 'done' }]);
  }
}

/** Turns of a worker that then fails, so that another begins its step anew: calls side by side, in order, and in vain. */
function turnsWithTools(): Reply[] {
  const call = (name: string, input: object | string = {}) => ({ name, input });
  return [
    [call('shelf__look_up', { word: 'a' }), call('shelf__look_up', { word: 'b' })],
    [
      call('run_command', { cmd: 'ls' }),
      call('run_command', { cmd: 'pwd' }),
      call('shelf__look_up', { word: 'c' }),
    ],
    [call('shelf__order', { item: 'a map' }), call('shelf__broken'), call('stock', { item: 'nails' })],
    [call('stock'), call('shelf__look_up', '{"word": '), call('format_disk')],
    [call('shelf__die')],
  ].map((calls) => ({ text: '', calls }));
}

function planOf({ tag }: Case, subtask: string): Plan {
  return { steps: [step('a', `${subtask} ${tag}`), step('conductor', `Go deeper. ${tag}`, [0])] };
}

/** Replies of the Conductor, in order; it accepts every answer after them. */
function repliesFor(each: Case): string[] {
  const isRejected = each.approval !== undefined && each.verdict === 'reject';
  const first = each.source === 'given' || each.source === 'kept' ? [] : plansOf(each, 'Find it.');
  const again = isRejected ? plansOf(each, 'Find it again.') : [];
  const deeper = renderPlan({ steps: [step('b', `Think. ${each.tag}`)] }, WORKERS.slice(0, 3));
  return [...first, ...again, ...(goesDeeper(each, isRejected) ? [deeper] : [])];
}

/** Returns what the Conductor writes when it is asked for a plan; in place of a stand-in, three times no plan. */
function plansOf(each: Case, subtask: string): string[] {
  if (each.source === 'stand-in') return ['no plan at all', 'nor this', 'nor that'];
  return [renderPlan(rootPlan(each, subtask), each.depth === 0 ? WORKERS.slice(0, 3) : WORKERS)];
}

/** Whether the Conductor's own step runs: an edit or a stand-in has none, and a plan that is kept has its output. */
function goesDeeper(each: Case, isRejected: boolean): boolean {
  const { source, depth } = each;
  return depth > 0 && source !== 'stand-in' && (source !== 'kept' || isRejected) && !isEdited(each);
}

function isEdited({ approval, verdict }: Case): boolean {
  return approval !== undefined && verdict === 'edit';
}

/** Returns the plan of a run: its second step is the Conductor's own if it may call itself. */
function rootPlan(each: Case, subtask: string): Plan {
  const [first, own] = planOf(each, subtask).steps;
  if (first === undefined || own === undefined) throw new Error('a plan without steps');
  return { steps: each.depth > 0 ? [first, own] : [first, { ...own, worker: 'b' }] };
}

function inputFor(each: Case): Pick<SolveInput, 'given' | 'approval' | 'limits'> {
  const { source, approval, depth } = each;
  const outputs = source === 'kept' ? ['Found.', 'Known.'] : ['Found.', null];
  const isGiven = source === 'given' || source === 'kept';
  return {
    limits: { depth },
    ...(approval !== undefined && { approval }),
    ...(isGiven && { given: { plan: rootPlan(each, 'Find it.'), outputs } }),
  };
}

/** Runs a case to its end; a person decides on each plan that the run itself says is waiting. */
async function play({ client, temporal }: Stage, each: Case): Promise<void> {
  const { id } = await client.start({ question: `Who knows? ${each.tag}`, ...inputFor(each) });
  const runs = [id, `${id}-r0s2`, `${id}-review`];
  let isFirst = true;
  await until(
    async () => {
      for (const run of runs) {
        const handle = temporal.client.workflow.getHandle(run);
        const state = await handle.query<SolveTrace>('state').catch(() => null);
        if (state?.status !== 'running' || state.waitsFor !== 'approval') continue;
        const plan = state.rounds[0]?.plan ?? { steps: [] };
        await decide(client, run, run === id && isFirst ? each : null, plan);
        isFirst = isFirst && run !== id;
      }
      return temporal.client.workflow.getHandle(id).describe();
    },
    ({ status }) => status.name !== 'RUNNING',
  );
}

/** Sends what a run heeds and what it does not: a signal is no request, and nobody refuses it. */
async function steer(client: ConductorClient, id: string, { depth }: Case): Promise<void> {
  await client.addHint(id, 'Mind the units.', { name: 'ada' });
  await client.setMaxDepth(id, depth);
  await client.setLimits(id, {});
  await client.setLimits(id, { calls: 100, costUsd: null }, { name: '' });
}

async function decide(client: ConductorClient, id: string, each: Case | null, plan: Plan): Promise<void> {
  if (each !== null) await steer(client, id, each);
  if (each?.verdict === 'edit') {
    const [kept] = plan.steps;
    await client.editPlan(id, { steps: [...(kept ? [kept] : []), step('c', `Say it. ${each.tag}`)] });
  } else if (each?.verdict === 'reject') await client.rejectPlan(id, 'Again, please.');
  else await client.approvePlan(id, plan);
}

/** Returns a reader's trace after each workflow task, with the length of the history when the task started. */
async function readTraces(
  { temporal }: Stage,
  workflowId: string,
): Promise<{ at: number; told: SolveTrace }[]> {
  const { events } = await temporal.client.workflow.getHandle(workflowId).fetchHistory();
  const { loadedDataConverter } = temporal.client.options;
  const reader = new TraceReader(workflowId, new HistoryDecoder(loadedDataConverter));
  const traces: { at: number; told: SolveTrace }[] = [];
  let task: TemporalEvent[] = [];
  const endTask = (): void => {
    const [completed] = task;
    const at = Number(completed?.workflowTaskCompletedEventAttributes?.startedEventId ?? 0);
    // A task that is waited for (by a query) ends with its local activity alone; the run goes on in a task of its own.
    const isHalf = task.at(-1)?.markerRecordedEventAttributes != null;
    if (at > 0 && !isHalf) traces.push({ at, told: reader.trace });
    task = [];
  };
  for (const event of events ?? []) {
    if (!isOfTask(event)) endTask();
    await reader.read(event);
    if (event.workflowTaskCompletedEventAttributes || task.length > 0) task.push(event);
  }
  endTask();
  return traces;
}

/** Whether a workflow task wrote an event. */
function isOfTask(event: TemporalEvent): boolean {
  if (event.workflowExecutionUpdateAcceptedEventAttributes) return true;
  if (event.workflowExecutionUpdateCompletedEventAttributes) return true;
  return Object.values(event).some(
    (each: unknown) => isRecord(each) && each.workflowTaskCompletedEventId != null,
  );
}

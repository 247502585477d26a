import { workflowInfo } from '@temporalio/workflow';
import type { Plan } from '../plan/plan';
import type { ResolveRunResult } from '../protocol/activity-contract';
import type { SolveInput } from '../protocol/input';
import { questionOf } from '../protocol/planning';
import { emptyTrace } from '../trace/reduce';
import { now } from './failures';
import { KeyRights } from '../protocol/key-rights';
import { Limits } from './limits';
import { PayloadBudget } from './payload-budget';
import { Recorder, type RunContext, type RunStart } from './run-context';
import { runPlan } from './run-plan';
import { Approval, Steering } from './steering';
import { CallApproval } from './tools/call-approval';
import { ToolBox } from './tools/tool-box';

/** Begins the run of a solve, which takes messages before its configuration is known. */
export function beginRun(input: SolveInput): RunStart {
  const { workflowId, runId, startTime } = workflowInfo();
  const startedAt = startTime.toISOString();
  const trace = emptyTrace({ id: workflowId, runId, question: questionOf(input), startedAt });
  const recorder = new Recorder(trace);
  recorder.show();
  return startWith(recorder, new KeyRights(input));
}

/** Opens a begun run with what was resolved for it; a child takes its place from its parent. */
export function openRun(
  input: SolveInput,
  start: RunStart,
  { run, question, conversation, answerSchema }: ResolveRunResult,
): RunContext {
  const { parent } = input;
  const limits = new Limits(run.limits);
  // Signals may have come before; the parent's hints are older.
  start.steering.hints.unshift(...(parent?.hints ?? []));
  start.steering.attachLimits(limits);
  const { rootId, depth, round, background } = parent ?? {
    rootId: workflowInfo().workflowId,
    depth: 0,
    round: 0,
    background: [],
  };
  const asked = { question, conversation, answerSchema };
  return contextOf(start, { input, ...asked, run, limits, rootId, depth, round, background });
}

type GivenRun = Pick<RunContext, 'question' | 'conversation' | 'run' | 'limits'> &
  Partial<Pick<RunContext, 'round' | 'background' | 'identity'>> &
  Pick<SolveInput, 'traceparent'>;

/** Opens one of many runs in a workflow, which is carried out by the code of a solve and receives no messages. */
export function runWithin(name: string, { traceparent, ...given }: GivenRun): RunContext {
  const { workflowId, runId } = workflowInfo();
  const { question } = given;
  const trace = emptyTrace({ id: `${workflowId}/${name}`, runId, question, startedAt: now() });
  const start = startWith(new Recorder(trace), new KeyRights(null));
  const place = { rootId: workflowId, depth: 0, round: 0, background: [] };
  return contextOf(start, { input: { question, traceparent }, ...place, ...given });
}

/** Carries out a given plan as the plan of its run. */
export async function runGiven(context: RunContext, plan: Plan): Promise<void> {
  const { recorder, round, depth } = context;
  recorder.record({ kind: 'plan-asked', round, depth });
  recorder.record({ kind: 'planned', round, plan, degraded: false });
  await runPlan(context, plan);
}

function startWith(recorder: Recorder, rights: KeyRights): RunStart {
  return {
    recorder,
    steering: new Steering(rights),
    approval: new Approval(),
    callApproval: new CallApproval(),
  };
}

function contextOf(
  start: RunStart,
  opened: Omit<RunContext, keyof RunStart | 'payloads' | 'toolBox'>,
): RunContext {
  const { run, limits } = opened;
  const toolBox = new ToolBox(run, limits);
  return { ...start, ...opened, payloads: new PayloadBudget(run.storeId), toolBox };
}

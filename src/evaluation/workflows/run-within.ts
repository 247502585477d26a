import { workflowInfo } from '@temporalio/workflow';
import type { Plan } from '../../plan/plan';
import { emptyTrace } from '../../trace/reduce';
import { PayloadBudget } from '../../workflows/payload-budget';
import { Recorder, type RunContext } from '../../workflows/run-context';
import { runPlan } from '../../workflows/run-plan';
import { Approval, Steering } from '../../workflows/steering';

type Given = Pick<RunContext, 'question' | 'run' | 'limits'> &
  Partial<Pick<RunContext, 'round' | 'background' | 'identity'>>;

/** A run that is one of many in its workflow, carried out by the very code of a solve. */
export function runWithin(name: string, { round = 0, background = [], ...given }: Given): RunContext {
  const { workflowId, runId } = workflowInfo();
  const trace = emptyTrace({ id: `${workflowId}/${name}`, runId, question: given.question });
  return {
    ...given,
    input: { question: given.question },
    steering: new Steering(),
    approval: new Approval(),
    payloads: new PayloadBudget(),
    recorder: new Recorder(trace, () => undefined),
    depth: 0,
    rootId: workflowId,
    round,
    background,
  };
}

/** Carries out a plan that the run was given. */
export async function runGiven(context: RunContext, plan: Plan): Promise<void> {
  const { recorder, round, depth } = context;
  recorder.record({ kind: 'plan-asked', round, depth });
  recorder.record({ kind: 'planned', round, plan, degraded: false });
  await runPlan(context, plan);
}

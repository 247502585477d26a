import type { Client } from '@temporalio/client';
import type { PlanContext } from '../plan/plan';
import type { WritePlanResult } from '../protocol/activities';
import { CONDUCTOR_ID } from '../protocol/names';
import type { ResolvedRun } from '../protocol/run';
import type { SolveInput } from '../protocol/solve';
import { readFailure } from '../trace/read-failure';
import { readHistory, type HistoryDecoder } from './history';
import { readMilestone, type Milestone } from './milestone';
import { RefusedError } from './refused-error';

/** What a run goes by. */
export interface RunOrigin {
  readonly input: SolveInput;
  readonly run: Pick<ResolvedRun, 'workers'> & Partial<ResolvedRun>;
}

/**
 * Reads what a run was started with and what was resolved from it, from its history: no worker is needed.
 *
 * @throws RefusedError for a run that has resolved nothing yet
 */
export async function readOrigin(client: Client, id: string, decoder: HistoryDecoder): Promise<RunOrigin> {
  let input: SolveInput | undefined;
  for await (const events of readHistory(client, { workflowId: id }, false)) {
    for (const event of events) {
      const milestone = await readMilestone(event, decoder);
      if (milestone?.kind === 'run-started') input = milestone.input as SolveInput;
      const run = input?.parent?.run ?? resolvedBy(milestone);
      if (input !== undefined && run !== undefined) return { input, run };
    }
  }
  throw new RefusedError(`run ${id} has no plan yet: try again when it has`);
}

/** The first Conductor call resolves the configuration, whether it brings a plan or fails. */
function resolvedBy(milestone: Milestone | null): ResolvedRun | undefined {
  if (milestone?.kind === 'call-failed') return readFailure(milestone.error, CONDUCTOR_ID).details?.run;
  return milestone?.kind === 'call-succeeded'
    ? (milestone.result as Partial<WritePlanResult>).run
    : undefined;
}

/** More than any plan has: how many a run accepts may have changed since, and the run itself has the last word. */
const MANY_STEPS = 100;

/** What a plan for a run is read by. The Conductor is the last of its workers wherever it may be one at all. */
export function contextOf({ input, run }: RunOrigin): PlanContext {
  const ids = run.workers.map(({ id }) => id);
  const callsItself = run.recursion === 'worker' || run.recursion === 'both';
  return {
    workers: callsItself ? [...ids, CONDUCTOR_ID] : ids,
    maxSteps: MANY_STEPS,
    round: input.parent?.round ?? 0,
  };
}

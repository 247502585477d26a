/**
 * Sandbox-safe entry point of a worker that other namespaces call: re-export it from your own workflows file, beside
 * the workflows of solves.
 *
 * @example
 * export * from 'temporal-conductor/workflows';
 * export * from 'temporal-conductor/nexus/workflows';
 */
import {
  ApplicationFailure,
  CancellationScope,
  executeChild,
  isCancellation,
  proxyActivities,
} from '@temporalio/workflow';
import { SOLVE_WORKFLOW } from '../../protocol/names';
import { startOptionsOf } from '../../protocol/planning';
import type { NexusAnswer } from '../contract';
import { attributesOfCall, type NexusActivities, type NexusCall, TELL_CALLER } from '../names';

const { [TELL_CALLER]: tellCaller } = proxyActivities<NexusActivities>({
  startToCloseTimeout: '1 minute',
  retry: { maximumInterval: '1 minute' },
});

/**
 * Runs a solve for a workflow of another namespace, and returns its answer whole: the solve's own result refers to
 * texts in a store that the caller does not have.
 */
export async function conductorNexusSolve(call: NexusCall): Promise<NexusAnswer> {
  const { id, input, caller } = call;
  const ended = await executeChild(SOLVE_WORKFLOW, {
    workflowId: id,
    workflowIdReusePolicy: 'REJECT_DUPLICATE',
    args: [input],
    ...attributesOfCall(call),
    ...startOptionsOf(input),
  }).then(
    () => null,
    (error: unknown) => error,
  );
  // What a cancelled solve has cost is booked, too.
  const end = await CancellationScope.nonCancellable(() => tellCaller({ id, caller }));
  if (isCancellation(ended)) throw ended;
  if ('answer' in end) return end.answer;
  throw ApplicationFailure.nonRetryable(end.failure.message, end.failure.type);
}

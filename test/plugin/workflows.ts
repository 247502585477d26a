import { ApplicationFailure, executeChild } from '@temporalio/workflow';
import type { ExternalAnswer, WorkerRequest } from '../../src';
import { conductorSolve, textOf } from '../../src/workflows';

/** The one line that a user adds. */
export * from '../../src/workflows';

/** A user's own workflow, whose values only the user's converter can convert. */
export function double(value: bigint): Promise<bigint> {
  return Promise.resolve(value * 2n);
}

/** An agent as a workflow that reports what it was given. */
export function reportWhatIsSeen({ subtask, sees }: WorkerRequest): Promise<ExternalAnswer> {
  const seen = sees.map(({ worker, output }) =>
    typeof output === 'string' ? `${worker}: ${output}` : `${worker}: ${output.bytes} bytes in the store`,
  );
  return Promise.resolve({
    text: [subtask, ...seen].join('\n'),
    usage: { inputTokens: 30, outputTokens: 2 },
  });
}

/** An agent as a workflow that fails. */
export function giveUp(): Promise<ExternalAnswer> {
  return Promise.reject(ApplicationFailure.nonRetryable('the agent has no budget left'));
}

/** A workflow that runs a solve as a child and reads the output of each step. */
export async function research(question: string, workflowId: string): Promise<string[]> {
  const { rounds } = await executeChild(conductorSolve, {
    workflowId,
    args: [{ question, approval: 'plan' }],
  });
  const steps = rounds.flatMap((round) => round.steps);
  return Promise.all(steps.map(({ output }) => textOf(output)));
}

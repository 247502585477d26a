import { ApplicationFailure, executeChild } from '@temporalio/workflow';
import type { ExternalAnswer, WorkerRequest } from '../../src';
import { conductorSolve, textOf } from '../../src/workflows';

/** The one line that a user adds. */
export * from '../../src/workflows';

/** A workflow of the user's own, whose values only the user's own converter can carry. */
export function double(value: bigint): Promise<bigint> {
  return Promise.resolve(value * 2n);
}

/** An agent that is a workflow: tells what it was given. */
export function reportWhatIsSeen({ subtask, sees }: WorkerRequest): Promise<ExternalAnswer> {
  const seen = sees.map(({ worker, output }) =>
    typeof output === 'string' ? `${worker}: ${output}` : `${worker}: ${output.bytes} bytes in the store`,
  );
  return Promise.resolve({
    text: [subtask, ...seen].join('\n'),
    usage: { inputTokens: 30, outputTokens: 2 },
  });
}

/** An agent that is a workflow and cannot do its work. */
export function giveUp(): Promise<ExternalAnswer> {
  return Promise.reject(ApplicationFailure.nonRetryable('the agent has no budget left'));
}

/** A workflow that has a question solved, and reads what each step wrote. */
export async function research(question: string, workflowId: string): Promise<string[]> {
  const { rounds } = await executeChild(conductorSolve, {
    workflowId,
    args: [{ question, approval: 'plan' }],
  });
  const steps = rounds.flatMap((round) => round.steps);
  return Promise.all(steps.map(({ output }) => textOf(output)));
}

import { ApplicationFailure } from '@temporalio/activity';
import type { RunTask, WorkerResult } from '../protocol/activity-contract';
import { FAILURES, type CallFailureDetails } from '../protocol/failures';
import type { Store } from '../store/store';
import { readText } from '../store/texts';
import { describeMisfit, describeUnusable, fitSchema } from './fit-schema';

/**
 * Returns a result if its output fits the answer schema, or if there is none.
 * @throws ApplicationFailure `Answer.Invalid` with the validator's messages, the text and the calls made for it
 */
export async function checkAnswer(
  store: Store,
  { answerSchema }: Pick<RunTask, 'answerSchema'>,
  result: WorkerResult,
): Promise<WorkerResult> {
  if (answerSchema === undefined) return result;
  const [schema, answer] = await Promise.all([readText(store, answerSchema), readText(store, result.output)]);
  const fault = await findFault(schema, answer);
  if (fault === null) return result;
  const { output: partial, ...details } = result;
  throw ApplicationFailure.create({
    type: FAILURES.answerInvalid,
    message: `the answer does not fit answerSchema: ${fault}`,
    nonRetryable: true,
    details: [{ ...details, partial } satisfies CallFailureDetails],
  });
}

/** @throws ApplicationFailure `Solve.BadInput` that says why a schema cannot be used */
export async function refuseBadSchema(schema: string): Promise<void> {
  const problem = describeUnusable(schema, await fitSchema({ schema }));
  if (problem !== null) throw badSchema(problem);
}

async function findFault(schema: string, answer: string): Promise<string | null> {
  const found = await fitSchema({ schema, value: answer });
  const misfit = describeMisfit(found);
  const problem = misfit === null ? describeUnusable(schema, found) : null;
  if (problem !== null) throw badSchema(problem);
  return misfit;
}

function badSchema(problem: string): ApplicationFailure {
  return ApplicationFailure.nonRetryable(`answerSchema cannot be used: ${problem}`, FAILURES.badInput);
}

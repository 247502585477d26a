import { ApplicationFailure } from '@temporalio/activity';
import { Account } from '../money/account';
import { conductorPromptBytes } from '../money/conductor-prompt-bytes';
import { describeLimit } from '../money/describe-limit';
import { worstCaseOf } from '../money/worst-case';
import type { Allowance, WritePlanRequest } from '../protocol/activities';
import { FAILURES, type CallFailureDetails } from '../protocol/failures';
import type { ResolvedRun } from '../protocol/run';
import type { ModelCall } from './model-call';

/**
 * What the first call of a run may come to, by the limits that it has just resolved: the same reckoning as the
 * workflow's for all later ones.
 *
 * @throws ApplicationFailure of a `Limit.*` type where not even this call fits; nothing was sent then
 */
export function firstAllowance(
  request: WritePlanRequest,
  run: ResolvedRun,
  resolved: ModelCall['resolved'],
): Allowance {
  const { conductor, limits } = run;
  const worst = worstCaseOf(conductor, conductorPromptBytes(request, run), conductor.maxOutputTokens);
  const answer = new Account(limits).reserve('first', worst);
  if ('requests' in answer) return answer;
  const now = new Date().toISOString();
  const details: CallFailureDetails = { calls: [], startedAt: now, endedAt: now, ...resolved };
  const type = { calls: FAILURES.callLimit, tokens: FAILURES.tokenLimit, cost: FAILURES.costLimit }[
    answer.limit
  ];
  const message = describeLimit(answer);
  throw ApplicationFailure.create({ type, message, nonRetryable: true, details: [details] });
}

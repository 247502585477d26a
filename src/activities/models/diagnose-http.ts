import { FAILURES } from '../../protocol/failures';
import type { ProviderFailureType } from './consequence';
import type { Diagnosis } from './diagnosis';
import type { HttpError } from './http-error';
import { readRetryAfter } from './retry-after';

/** Other statuses: below 500 the request is wrong, from 500 on a gateway lost the answer. */
const TYPES: Readonly<Record<number, ProviderFailureType>> = {
  401: FAILURES.authentication,
  402: FAILURES.quotaExceeded,
  403: FAILURES.authentication,
  408: FAILURES.timeout,
  429: FAILURES.rateLimited,
  500: FAILURES.unavailable,
  503: FAILURES.unavailable,
  529: FAILURES.unavailable,
};

/**
 * What vendors call an account without money: OpenAI under 429, Anthropic under 400 by words alone. Gemini says "quota"
 * for its limits per minute too; only the name of the quota tells them from a day's.
 */
const OUT_OF_QUOTA = /^(insufficient_quota|billing_\w+|insufficient_credits|\w*perday\w*)$/;
const OUT_OF_CREDIT = /credit balance is too low/i;

/** Gemini rejects a key with 400. */
const KEY_REJECTED = /^(api_key_invalid|invalid_api_key)$/;

/** Judges an answer other than 2xx; `now` in epoch milliseconds. */
export function diagnoseHttp(error: HttpError, now: number): Diagnosis {
  return {
    type: typeOf(error),
    happened: `answered ${error.status}`,
    reason: error.reason,
    nextRetryDelayMs: readRetryAfter(error, now),
    // `true` changes nothing: the provider does not weigh what a second answer costs.
    final: error.headers?.get('x-should-retry') === 'false',
  };
}

function typeOf({ status, codes, reason }: HttpError): ProviderFailureType {
  const says = (name: RegExp): boolean => codes.some((code) => name.test(code));
  if (says(OUT_OF_QUOTA) || OUT_OF_CREDIT.test(reason)) return FAILURES.quotaExceeded;
  if (says(KEY_REJECTED)) return FAILURES.authentication;
  return TYPES[status] ?? (status < 500 ? FAILURES.badRequest : FAILURES.timeout);
}

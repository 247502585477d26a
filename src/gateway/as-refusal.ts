import { HTTPException } from 'hono/http-exception';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { BadCursorError } from '../client/live-events';
import { BadRetryError } from '../client/retry';
import { isNotFound, RefusedError } from '../client/steer';
import { ConfigError } from '../config/errors';
import { codeOf, reasonOf } from '../errors';
import { PlanError } from '../plan/plan-error';
import { PolicyError } from '../training/policy/errors';
import { BudgetSpentError } from './access/day-budget';
import type { Gateway } from './gateway';
import { Refusal } from './refusal';

/** The product's own errors that the caller can fix, with their statuses. */
const CALLERS: readonly (readonly [abstract new (...args: never[]) => Error, ContentfulStatusCode])[] = [
  [PolicyError, 404],
  [RefusedError, 409],
  ...[BadCursorError, BadRetryError, ConfigError, PlanError].map((kind) => [kind, 400] as const),
];

/** Returns the refusal that a caller gets for an error. @param say logs errors that do not concern the caller */
export function asRefusal(error: unknown, say: Gateway['say']): Refusal {
  if (error instanceof Refusal) return error;
  if (error instanceof HTTPException && error.status < 500) {
    return new Refusal(400, `the request cannot be read: ${error.message}`, { reason: 'bad_request' });
  }
  // OpenAI's clients know this code.
  if (error instanceof BudgetSpentError)
    return new Refusal(402, error.message, { reason: 'insufficient_quota' });
  const status = CALLERS.find(([kind]) => error instanceof kind)?.[1];
  if (status !== undefined) return new Refusal(status, reasonOf(error), { reason: String(codeOf(error)) });
  if (isNotFound(error)) {
    return new Refusal(404, 'it no longer exists, or has ended: look it up again', { reason: 'not_found' });
  }
  say(`gateway: ${reasonOf(error)}`);
  const message = 'the gateway failed; see its log for the cause';
  return new Refusal(500, message, { reason: 'internal', retryAfterSeconds: 1 }, { cause: error });
}

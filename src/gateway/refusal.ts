import { HTTPException } from 'hono/http-exception';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import {
  BadCursorError,
  BadRetryError,
  isNotFound,
  isUnavailable,
  NotAllowedError,
  RefusedError,
} from '../client';
import { ConfigError } from '../config/errors';
import { codeOf, ConductorError, reasonOf } from '../errors';
import { PlanError } from '../plan/plan-error';
import { FAILURES } from '../protocol/failures';
import type { Problem, SolveResult } from '../protocol/solve';

interface RefusalFacts {
  /** Code for programs, e.g. `model_not_found`. */
  readonly reason: string;
  /** The invalid field of the request, if it is one field. */
  readonly param?: string;
  /** Delay before a retry. Without it, a retry would be refused again, and clients are told not to retry. */
  readonly retryAfterSeconds?: number;
  /** Id of the solve that the request was for, sent in a header. */
  readonly solve?: string | undefined;
}

/** Error response to a request; each surface encodes it in its vendor's format. */
export class Refusal extends ConductorError {
  override readonly name = 'Refusal';
  readonly code: string;
  readonly param: string | null;
  readonly retryAfterSeconds: number | null;
  readonly solve: string | null;

  constructor(
    readonly status: ContentfulStatusCode,
    message: string,
    { reason, param, retryAfterSeconds, solve }: RefusalFacts,
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.code = reason;
    this.param = param ?? null;
    this.retryAfterSeconds = retryAfterSeconds ?? null;
    this.solve = solve ?? null;
  }

  /** Headers by which OpenAI's and Anthropic's clients decide whether to retry. */
  get headers(): Record<string, string> {
    const { retryAfterSeconds: seconds, solve } = this;
    const named: Record<string, string> = solve === null ? {} : { 'x-conductor-solve': solve };
    if (seconds === null) return { 'x-should-retry': 'false', ...named };
    return { 'x-should-retry': 'true', 'retry-after': String(Math.ceil(seconds)), ...named };
  }
}

export function badRequest(message: string, param: string, reason = 'invalid_value'): Refusal {
  return new Refusal(400, message, { reason, param });
}

/** The product's own errors that the caller can fix, with their statuses. */
const CALLERS: readonly (readonly [abstract new (...args: never[]) => Error, ContentfulStatusCode])[] = [
  [NotAllowedError, 403],
  [RefusedError, 409],
  ...[BadCursorError, BadRetryError, ConfigError, PlanError].map((kind) => [kind, 400] as const),
];

/**
 * Returns the refusal that a caller gets for an error.
 * @param say logs errors that do not concern the caller
 * @param server names the process that failed
 */
export function asRefusal(error: unknown, say: (line: string) => void, server = 'gateway'): Refusal {
  if (error instanceof Refusal) return error;
  if (error instanceof HTTPException && error.status < 500) {
    return new Refusal(400, `the request cannot be read: ${error.message}`, { reason: 'bad_request' });
  }
  const status = CALLERS.find(([kind]) => error instanceof kind)?.[1];
  if (status !== undefined) return new Refusal(status, reasonOf(error), { reason: String(codeOf(error)) });
  if (isNotFound(error)) {
    return new Refusal(404, 'it no longer exists, or has ended: look it up again', { reason: 'not_found' });
  }
  say(`${server}: ${reasonOf(error)}`);
  if (isUnavailable(error)) {
    const remedy = 'try again; a solve that was begun before goes on when Temporal is back';
    const facts = { reason: 'temporal_unavailable', retryAfterSeconds: 5 };
    return new Refusal(503, `the ${server} cannot reach Temporal: ${remedy}`, facts, { cause: error });
  }
  const message = `the ${server} failed; see its log for the cause`;
  return new Refusal(500, message, { reason: 'internal', retryAfterSeconds: 1 }, { cause: error });
}

/** OpenAI's error types by status (https://platform.openai.com/docs/guides/error-codes). */
const OPENAI_TYPES: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  402: 'insufficient_quota',
  403: 'permission_error',
  404: 'not_found_error',
  409: 'conflict_error',
  429: 'rate_limit_error',
};

export function toOpenAiError({ status, message, code, param }: Refusal): object {
  const usual = status < 500 ? 'invalid_request_error' : 'server_error';
  return { error: { message, type: OPENAI_TYPES[status] ?? usual, param, code } };
}

/** Anthropic's error types by status (https://docs.anthropic.com/en/api/errors). */
const ANTHROPIC_TYPES: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  503: 'overloaded_error',
  504: 'timeout_error',
};

export function toAnthropicError({ status, message }: Refusal): object {
  const usual = status < 500 ? 'invalid_request_error' : 'api_error';
  return { type: 'error', error: { type: ANTHROPIC_TYPES[status] ?? usual, message } };
}

const STATUS_OF: Readonly<Record<string, ContentfulStatusCode>> = {
  [FAILURES.badInput]: 400,
  // Only the caller's plan: if the Conductor's is invalid, the run goes on with a stand-in.
  [FAILURES.planInvalid]: 400,
  [FAILURES.costLimit]: 402,
  [FAILURES.callLimit]: 402,
  [FAILURES.tokenLimit]: 402,
  [FAILURES.cancelled]: 409,
  [FAILURES.approvalLimit]: 409,
  [FAILURES.wallClock]: 504,
};

/** Returns the error response for a solve that ended without an answer. */
export function refusalOfRun({ id, status, error }: Pick<SolveResult, 'id' | 'status' | 'error'>): Refusal {
  const problem: Problem = error ?? {
    type: FAILURES.cancelled,
    message: status === 'cancelled' ? 'it was cancelled' : 'it has no answer',
  };
  const message = `solve ${id} gave no answer: ${problem.message}`;
  return new Refusal(STATUS_OF[problem.type] ?? 502, message, { reason: problem.type });
}

/** Error for sent text that turned out void: it cannot be taken back, and a client would show two answers. */
export function givenUp(id: string): Refusal {
  const message = `solve ${id} restarted its answer, so the text sent so far is invalid: send the request again, or read the answer at /api/solves/${id}`;
  return new Refusal(502, message, { reason: 'answer_restarted', retryAfterSeconds: 1 });
}

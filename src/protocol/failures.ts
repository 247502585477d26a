import type { Call, Problem } from './solve';
import type { Text } from './text';

/**
 * Failure types by the boundary that was crossed, each with the party that retries it.
 *
 * "Temporal" types are certain to cost nothing, and the server retries them without the workflow. "Workflow" types may
 * have been billed: the workflow decides. "No one" types would fail again.
 */
export const FAILURES = {
  /** 429. Temporal, after the delay that the provider asked for. */
  rateLimited: 'Provider.RateLimited',
  /** Connection refused, an overload, 500, 503, 529: no completion was made. Temporal, with back-off. */
  unavailable: 'Provider.Unavailable',
  /** No answer in time, 408, or a gateway that lost the answer: 502, 504. Workflow. */
  timeout: 'Provider.Timeout',
  /** The connection dropped after the request was sent. Workflow. */
  interrupted: 'Provider.Interrupted',
  /** 2xx that cannot be read or holds no text: cut JSON, wrong content type, empty. Workflow. */
  badResponse: 'Provider.BadResponse',
  /** The output limit was reached before the answer was whole. Workflow. */
  truncated: 'Provider.Truncated',
  /** The model or its safety filter declined. No one on this worker. */
  refused: 'Provider.Refused',
  /** 400, 413, 422, a URL that cannot be asked: the request itself is wrong. No one. */
  badRequest: 'Provider.BadRequest',
  /** 404, a model that the server does not have. No one. */
  notFound: 'Provider.NotFound',
  /** 401, 403 or a key variable that is not set. No one. */
  authentication: 'Provider.Authentication',
  /** The account has no money or quota left. No one. */
  quotaExceeded: 'Provider.QuotaExceeded',
  /** The run was cancelled during the call. No one. */
  cancelled: 'Run.Cancelled',
  /** The worker process was asked to stop during the call. Temporal, on another process. */
  workerStopped: 'Worker.Stopped',
  /** The Conductor's reply is no plan. Workflow, by a repair. */
  planInvalid: 'Plan.Invalid',
  /** The answer does not fit the schema that came with the question. Workflow, once, with the reason. */
  answerInvalid: 'Answer.Invalid',
  /** A person wants another plan. Workflow, by asking the Conductor again. */
  planRejected: 'Plan.Rejected',
  /** A store operation failed: full disk, no connection, no permission. Temporal, with back-off. */
  storeUnavailable: 'Store.Unavailable',
  /** The worker process has another store than the run. Temporal, on another process. */
  otherStore: 'Store.Other',
  /** A text over the store's cap. No one. */
  textTooLarge: 'Store.TextTooLarge',
  /** A reference that the store does not hold. No one. */
  textNotFound: 'Store.NotFound',
  /** The configuration of the worker process cannot serve this run. No one. */
  configuration: 'Configuration.Invalid',
  /** The run's time was used up before the call was made or had ended. No one. */
  wallClock: 'Limit.WallClock',
  /** The next call could exceed what may be spent. No one; the run ends with the best answer so far. */
  callLimit: 'Limit.Calls',
  tokenLimit: 'Limit.Tokens',
  costLimit: 'Limit.Cost',
  /** No one approved the plan in time. No one. */
  approvalLimit: 'Limit.Approval',
  /** The call would exceed a rate on the card. Temporal, when there is room; no request was sent. */
  throttled: 'Worker.Throttled',
  /** The worker has failed too often lately and is paused. Workflow, by a fallback; if there is none, Temporal. */
  circuitOpen: 'Worker.CircuitOpen',
  /** A tool's server took no call: nothing was sent. Temporal, with back-off, a few times. */
  toolUnsent: 'Tool.Unsent',
  /** A tool returned an error, or may have done what it was asked. No one: the model is told. */
  toolFailed: 'Tool.Failed',
  toolUnknown: 'Tool.Unknown',
  /** A model's arguments do not fit the schema of a tool in code, which was not called. No one: the model is told. */
  toolArguments: 'Tool.Arguments',
  /** Processes were lost mid-call as often as the reservation allows. Workflow. */
  workerLost: 'Worker.Lost',
  /** A message that does not fit the state of a run, e.g. an approval when no plan waits. No one. */
  badMessage: 'Solve.BadMessage',
  /** A message that asks for more than the key that started the run may use. No one. */
  notAllowed: 'Solve.NotAllowed',
  /** Input that is invalid for a run. No one. */
  badInput: 'Solve.BadInput',
  /** Every step failed: no answer is left. The run fails with its trace as details. */
  noAnswer: 'Solve.NoAnswer',
} as const;

export type FailureType = (typeof FAILURES)[keyof typeof FAILURES];

/** Whether every call would fail this way until a person changes the configuration or pays. */
export function isMisconfigured({ type }: Problem): boolean {
  const { authentication, notFound, quotaExceeded, configuration } = FAILURES;
  return [authentication, notFound, quotaExceeded, configuration].some((each) => each === type);
}

/** Facts that a failed model call reports to the workflow. */
export interface CallFailureDetails {
  readonly calls: readonly Call[];
  /** Text that arrived before a length stop, if any. */
  readonly partial?: Text;
  /** Thoughts that stood before it, if any. */
  readonly thoughts?: Text;
  /** Settings the model does not have, left out of the request. */
  readonly dropped?: readonly string[];
  readonly startedAt: string;
  readonly endedAt: string;
}

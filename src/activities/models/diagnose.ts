import { ConductorError } from '../../errors';
import { FAILURES, type FailureType } from '../../protocol/failures';
import { causeOf, statusNamedIn } from './failures/cause';
import { CAUSES, type NamedCause } from './failures/known';
import { retryDelayIn } from './failures/retry-delay';
import { type Said, saidIn } from './failures/said';
import { ReportedFailure, UnreadableReply } from './reply';

export type ProviderFailureType = Extract<FailureType, `Provider.${string}`>;

export interface Consequence {
  /** True if Temporal retries without the workflow knowing. */
  readonly retryable: boolean;
  /** Whether the provider charges for it. Always `no` for provider failures that Temporal retries. */
  readonly billed: 'no' | 'unknown' | 'yes';
  /**
   * Verdict on the model. `bad` counts towards its circuit, so it is kept for what no question can bring about:
   * the server cannot be reached, breaks down, or sends what is no answer of its API.
   */
  readonly health: Health;
  readonly remedy: string;
}

export type Health = 'good' | 'bad' | 'unknown';

export interface Diagnosis extends Partial<Pick<Consequence, 'billed' | 'health' | 'remedy'>> {
  readonly type: ProviderFailureType;
  /** Verb phrase with the provider as its subject: `answered 401`. */
  readonly happened: string;
  /** Message of the provider or the system; may contain a key. */
  readonly reason: string;
  readonly nextRetryDelayMs?: number | null;
}

function retried(health: Health, remedy: string): Consequence {
  return { retryable: true, billed: 'no', health, remedy };
}

function final(health: Health, billed: Consequence['billed'], remedy: string): Consequence {
  const all = billed === 'unknown' ? `${remedy}; the call may have been billed.` : remedy;
  return { retryable: false, billed, health, remedy: all };
}

/** Consequences of each failure type, as `protocol/failures.ts` describes them. */
export const CONSEQUENCES: Readonly<Record<ProviderFailureType, Consequence>> = {
  [FAILURES.rateLimited]: retried('good', 'Wait, send less at once, or ask the provider for a higher rate.'),
  [FAILURES.unavailable]: retried(
    'bad',
    'Check that the server runs and that baseUrl is right; nothing was billed.',
  ),
  // A question may need more time than there is.
  [FAILURES.timeout]: final('unknown', 'unknown', "Raise the worker's time-out or choose a faster model"),
  [FAILURES.interrupted]: final('bad', 'unknown', 'Check the network and any proxy on the way'),
  [FAILURES.badResponse]: final(
    'bad',
    'unknown',
    "Check that baseUrl is the API's root and that the server speaks this API",
  ),
  [FAILURES.truncated]: final('good', 'yes', "Raise the worker's maxOutputTokens or lower its effort."),
  [FAILURES.refused]: final('good', 'yes', 'Give the step to another worker or name one as fallback.'),
  [FAILURES.badRequest]: final('good', 'no', 'Correct its settings in the configuration, or ask for less.'),
  [FAILURES.notFound]: final('good', 'no', 'Correct its model or baseUrl in the configuration.'),
  [FAILURES.authentication]: final('good', 'no', "Set the key's variable and start again."),
  [FAILURES.quotaExceeded]: final('good', 'no', "Add credit or raise the account's limit, then start again."),
};

/** Error that brings its own diagnosis, from the transport or an add-on's provider. */
export abstract class DiagnosedError extends ConductorError {
  abstract readonly diagnosis: Diagnosis;
}

/** Diagnoses whatever an SDK or `fetch` threw, except a cancellation and our own timeout. */
export function diagnose(error: unknown): Diagnosis {
  const causes = causesOf(error);
  const [known] = causes.flatMap((cause) => diagnosisOf(cause) ?? []);
  const reason = causes[0]?.message ?? String(error);
  return known ?? { type: FAILURES.badRequest, happened: 'could not be asked', reason };
}

function diagnosisOf(error: Cause): Diagnosis | null {
  if (error instanceof DiagnosedError) return error.diagnosis;
  const { name, message: reason, syscall } = error;
  const code = String(error.code);
  const isNetwork = IN_BETWEEN.test(code);
  // A request that was sent may have been billed.
  if (BEFORE_SENDING.test(code) || (isNetwork && syscall === 'connect')) {
    return { type: FAILURES.unavailable, happened: 'could not be reached', reason };
  }
  // Message of `fetch` for a body that broke off.
  if (isNetwork || reason === 'terminated') {
    return {
      type: FAILURES.interrupted,
      happened: 'closed the connection before its answer was whole',
      reason,
    };
  }
  if (error instanceof ReportedFailure) return diagnoseReported(error);
  // UnreadableReply is ours; the SDKs pass on the SyntaxError of JSON.parse.
  const isUnreadable = error instanceof UnreadableReply || name === 'SyntaxError';
  return isUnreadable
    ? { type: FAILURES.badResponse, happened: 'sent an answer that cannot be read', reason }
    : null;
}

const BEFORE_SENDING =
  /^(?:(?:CERT|ERR_TLS|ERR_SSL|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO)_\w{1,50}|EPROTO|ENOTFOUND|EAI_[A-Z]{1,20}|UND_ERR_CONNECT_TIMEOUT)$/;
const IN_BETWEEN =
  /^(?:ECONN[A-Z]{1,20}|EPIPE|ETIMEDOUT|EHOST[A-Z]{1,20}|ENET[A-Z]{1,20}|EADDRNOTAVAIL|UND_ERR_\w{1,50}|HPE_\w{1,50})$/;

type Cause = Error & Readonly<Partial<Record<'code' | 'syscall' | 'errors', unknown>>>;

/** Returns an error and its causes, innermost first: `fetch failed` and the SDKs' wrappers say less than these. */
export function causesOf(error: unknown): Cause[] {
  const chain: Cause[] = [];
  let link = error;
  while (isError(link) && !chain.includes(link)) {
    chain.unshift(link);
    // Takes the first of several addresses that all failed.
    link = Array.isArray(link.errors) ? link.errors[0] : link.cause;
  }
  return chain;
}

/** Checks the shape: `instanceof` fails across realms, and in tests the errors of `fetch` come from another one. */
function isError(value: unknown): value is Cause {
  return typeof value === 'object' && value !== null && 'name' in value && 'message' in value;
}

/** A response other than 2xx. The provider's body may contain a key. */
export interface HttpAnswer {
  readonly status: number;
  readonly headers: Pick<Headers, 'get'>;
  readonly body: string;
}

/** Diagnoses a response that is not 2xx: by what it says, or else by its status. */
export function diagnoseHttp({ status, headers, body }: HttpAnswer): Diagnosis {
  const said = saidIn(body);
  return {
    ...(namedFailure(said, status) ?? statusFailure(status)),
    happened: `answered ${status}`,
    reason: said.sentence,
    nextRetryDelayMs: retryDelayIn({ headers, body: said }),
  };
}

type KnownFailure = Pick<Diagnosis, 'type' | 'billed' | 'health' | 'remedy'>;

function namedFailure(said: Said, status: number | null): KnownFailure | null {
  const cause = causeOf(said, status);
  return cause && { type: CAUSES[cause], ...OF_CAUSES[cause] };
}

const OVERLOADED = 'Try again later, or name a fallback; nothing was billed.';

/** What a cause means beyond its failure type. */
const OF_CAUSES: Readonly<Partial<Record<NamedCause, Omit<KnownFailure, 'type'>>>> = {
  overload: { remedy: OVERLOADED },
  size: { remedy: 'Ask for less, or give the step to a model with a longer context.' },
  // Azure and xAI charge for some requests that their filters refuse.
  filter: {
    billed: 'unknown',
    remedy: `${CONSEQUENCES[FAILURES.refused].remedy} The call may have been billed.`,
  },
};

/** Returns what a status alone means. From 500 on, an unknown one is that of a gateway that lost the answer. */
function statusFailure(status: number): KnownFailure {
  const known = STATUSES.find(([statuses]) => statuses.includes(status))?.[1];
  return known ?? (status < 500 ? { type: FAILURES.badRequest } : LOST_BEHIND);
}

/** The server may have written the answer, which a gateway in front of it lost. */
const LOST_BEHIND: KnownFailure = {
  type: FAILURES.timeout,
  health: 'bad',
  remedy:
    'Check the server and the gateway in front of it, or try again later; the call may have been billed.',
};

/** Failures by status. Those of 520 and more are Cloudflare's (developers.cloudflare.com/support/troubleshooting). */
const STATUSES: readonly (readonly [statuses: readonly number[], KnownFailure])[] = [
  [[401], { type: FAILURES.authentication }],
  [[402], { type: FAILURES.quotaExceeded }],
  [[403], { type: FAILURES.authentication, remedy: 'Check what the key and its account may use there.' }],
  [[404], { type: FAILURES.notFound }],
  [[429], { type: FAILURES.rateLimited }],
  [[500, 503, 529], { type: FAILURES.unavailable, remedy: OVERLOADED }],
  // The gateway never reached the server: refused, no route, no DNS entry, no TLS.
  [[521, 522, 523, 525, 526, 530], { type: FAILURES.unavailable }],
  [
    [408, 504, 524],
    {
      type: FAILURES.timeout,
      remedy:
        'The server, or a gateway in front of it, gave up waiting: stream the answers (stream: true), raise its ' +
        'time-out or choose a faster model; the call may have been billed.',
    },
  ],
];

/**
 * Diagnoses a failure that a server reports under 200: as the same words under their own status. Only what surely cost
 * nothing is retried: a rate or an overload before anything was written. A server that broke down after it had said 200
 * may have charged for it.
 */
export function diagnoseReported({ said, isStream, hasBegun }: ReportedFailure): Diagnosis {
  const happened = hasBegun ? 'failed while it wrote its answer' : 'sent an error in place of an answer';
  const told = { happened, reason: said.sentence };
  const status = statusNamedIn(said);
  const named =
    namedFailure(said, status) ?? (status === null || status === 500 ? LOST_BEHIND : statusFailure(status));
  if (isFinal(named)) return { ...named, ...told, ...(hasBegun && MAYBE_BILLED) };
  if (!hasBegun && CONSEQUENCES[named.type].retryable) {
    return { ...named, ...told, nextRetryDelayMs: retryDelayIn({ headers: NO_HEADERS, body: said }) };
  }
  return {
    ...told,
    type: isStream ? FAILURES.interrupted : FAILURES.badResponse,
    // It may be about the question.
    health: 'unknown',
    remedy: 'Try again later; the call may have been billed.',
  };
}

/** Whether the same request would fail again. */
function isFinal({ type }: KnownFailure): boolean {
  return type !== FAILURES.timeout && !CONSEQUENCES[type].retryable;
}

const NO_HEADERS: HttpAnswer['headers'] = { get: () => null };
const MAYBE_BILLED = { billed: 'unknown' } as const;

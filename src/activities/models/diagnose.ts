import { ConductorError } from '../../conductor-error';
import { FAILURES, type FailureType } from '../../protocol/failures';
import {
  causesOf,
  type HttpError,
  isErrorLike,
  type NetworkFault,
  readHttpError,
  readNetworkFault,
  readRetryAfter,
} from './http-error';
import { UnreadableReply } from './reply';

/** A failure before it is put into a sentence. */
export interface Diagnosis {
  readonly type: ProviderFailureType;
  /** Verb phrase with the provider as its subject: `answered 401`. */
  readonly happened: string;
  /** In the provider's or the system's own words: may hold a key. */
  readonly reason: string;
  /** When the provider wants to be asked again, where it says so. */
  readonly nextRetryDelayMs?: number | null;
  /** The provider asks not to be asked again. */
  readonly final?: boolean;
  /** One sentence on what to do, where that is not what usually helps against this type. */
  readonly remedy?: string;
  /** Set where it is more certain than the type tells. */
  readonly billed?: 'no';
}

/** The failure types of the boundary between us and a provider. */
export type ProviderFailureType = Extract<FailureType, `Provider.${string}`>;

/** Consequence of a failure: who retries, who pays, and what a person can do. */
export interface Consequence {
  /** True where Temporal tries again behind the workflow's back. */
  readonly retryable: boolean;
  /** Whether the provider charges for it. Never `unknown` or `yes` where Temporal tries again. */
  readonly billed: 'no' | 'unknown' | 'yes';
  readonly remedy: string;
}

function retried(remedy: string): Consequence {
  return { retryable: true, billed: 'no', remedy };
}

function final(billed: Consequence['billed'], remedy: string): Consequence {
  return {
    retryable: false,
    billed,
    remedy: billed === 'unknown' ? `${remedy}; the call may have been billed.` : remedy,
  };
}

/** The law of `protocol/failures.ts` as a table. */
export const CONSEQUENCES: Readonly<Record<ProviderFailureType, Consequence>> = {
  [FAILURES.rateLimited]: retried('Wait, send less at once, or ask the provider for a higher rate.'),
  [FAILURES.unavailable]: retried(
    'Check that the server runs and that baseUrl is right; nothing was billed.',
  ),
  [FAILURES.timeout]: final('unknown', "Raise the worker's time-out or choose a faster model"),
  [FAILURES.interrupted]: final('unknown', 'Check the network and any proxy on the way'),
  [FAILURES.badResponse]: final(
    'unknown',
    "Check that baseUrl is the API's root and that the server speaks this API",
  ),
  [FAILURES.truncated]: final('yes', "Raise the worker's maxOutputTokens or lower its effort."),
  [FAILURES.refused]: final('yes', 'Give the step to another worker or name one as fallback.'),
  [FAILURES.badRequest]: final('no', 'Correct its settings in conductor.yaml, or ask for less.'),
  [FAILURES.notFound]: final('no', 'Correct its model or baseUrl in conductor.yaml.'),
  [FAILURES.authentication]: final('no', "Set the key's variable and start again."),
  [FAILURES.quotaExceeded]: final('no', "Add credit or raise the account's limit, then start again."),
};

/** Thrown by a provider of an add-on, which knows best what its own failures come to. */
export abstract class DiagnosedError extends ConductorError {
  abstract readonly diagnosis: Diagnosis;
}

/** Judges whatever an SDK threw, cancellation and our own time-out apart. */
export function diagnose(error: unknown): Diagnosis {
  if (error instanceof DiagnosedError) return error.diagnosis;
  const http = readHttpError(error);
  if (http !== null) return diagnoseHttp(http);
  const fault = readNetworkFault(error);
  if (fault !== null) return diagnoseFault(fault);
  // Thrown by us on top of the SDKs or, from the transport, into them; they pass on what JSON.parse throws.
  const unreadable = causesOf(error).find(
    (link) => link instanceof UnreadableReply || isNamed(link, 'SyntaxError'),
  );
  if (unreadable !== undefined) {
    return {
      type: FAILURES.badResponse,
      happened: 'sent an answer that cannot be read',
      reason: unreadable.message,
    };
  }
  const reason = isErrorLike(error) ? error.message : String(error);
  // The SDKs' own clock, which runs beside ours.
  return isNamed(error, 'APIConnectionTimeoutError')
    ? { type: FAILURES.timeout, happened: LATE, reason }
    : { type: FAILURES.badRequest, happened: 'could not be asked', reason };
}

const LATE = 'gave no answer in time';
const OUT_OF_TIME = new Set(['ETIMEDOUT', 'UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT']);

function diagnoseFault({ code, sent, reason }: NetworkFault): Diagnosis {
  // fetch will never ask such a URL.
  if (code === null) return { type: FAILURES.notFound, happened: 'could not be asked', reason };
  if (!sent) return { type: FAILURES.unavailable, happened: 'could not be reached', reason };
  if (OUT_OF_TIME.has(code)) return { type: FAILURES.timeout, happened: LATE, reason };
  return {
    type: FAILURES.interrupted,
    happened: 'closed the connection before its answer was whole',
    reason,
  };
}

/** OpenAI's error classes keep the name `Error`. */
function isNamed(error: unknown, name: string): boolean {
  return isErrorLike(error) && (error.name === name || error.constructor.name === name);
}

function diagnoseHttp(error: HttpError): Diagnosis {
  const { status, codes, reason, headers } = error;
  const named = NAMED.find(([code, words]) => codes.some((each) => code.test(each)) || words(status, reason));
  return {
    type: named?.[2] ?? TYPES[status] ?? (status < 500 ? FAILURES.badRequest : FAILURES.timeout),
    happened: `answered ${status}`,
    reason,
    nextRetryDelayMs: readRetryAfter(error, Date.now()),
    // `true` changes nothing: the provider does not weigh what a second answer costs.
    final: headers?.get('x-should-retry') === 'false',
  };
}

type Words = (status: number, reason: string) => boolean;

/** Failures that codes, or words, tell more about than the status; the first that fits. */
const NAMED: readonly (readonly [code: RegExp, words: Words, type: ProviderFailureType])[] = [
  // An account without money: OpenAI under 429, Anthropic under 400 by words alone. Gemini says "quota" for its limits
  // per minute too; only the name of the quota tells them from a day's.
  [
    /^(insufficient_quota|billing_\w{1,100}|insufficient_credits|\w{0,100}perday\w{0,100})$/,
    (_, reason) => /credit balance is too low/i.test(reason),
    FAILURES.quotaExceeded,
  ],
  // Gemini rejects a key with 400.
  [/^(api_key_invalid|invalid_api_key)$/, () => false, FAILURES.authentication],
  // A model that is not there under 400: OpenRouter, Mistral and DeepSeek by words alone.
  [
    /^(model_not_found|invalid_model)$/,
    (status, reason) =>
      status === 400 && /is not a valid model|^invalid model\b|^model not (exist|found)/i.test(reason),
    FAILURES.notFound,
  ],
];

/** Other statuses: below 500 the request is wrong, from 500 on a gateway lost the answer. */
const TYPES: Readonly<Record<number, ProviderFailureType>> = {
  401: FAILURES.authentication,
  402: FAILURES.quotaExceeded,
  403: FAILURES.authentication,
  404: FAILURES.notFound,
  408: FAILURES.timeout,
  429: FAILURES.rateLimited,
  500: FAILURES.unavailable,
  503: FAILURES.unavailable,
  529: FAILURES.unavailable,
};

import { ConductorError } from '../../errors';
import { FAILURES, type FailureType } from '../../protocol/failures';
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
  [FAILURES.badRequest]: final('good', 'no', 'Correct its settings in conductor.yaml, or ask for less.'),
  [FAILURES.notFound]: final('good', 'no', 'Correct its model or baseUrl in conductor.yaml.'),
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
  // UnreadableReply is ours; the SDKs pass on the SyntaxError of JSON.parse.
  const isUnreadable = error instanceof UnreadableReply || name === 'SyntaxError';
  if (!isUnreadable) return null;
  const isReport = error instanceof ReportedFailure;
  return {
    type: FAILURES.badResponse,
    happened: 'sent an answer that cannot be read',
    reason,
    ...(isReport && { health: 'unknown' }),
  };
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

/** Characters of an error's body that are searched. */
export const MOST_READ = 16_384;

export function diagnoseHttp({ status, headers, body }: HttpAnswer): Diagnosis {
  const text = body.slice(0, MOST_READ);
  const named = NAMED.find(([words]) => words.test(text));
  const type = named?.[1] ?? TYPES[status] ?? (status < 500 ? FAILURES.badRequest : FAILURES.timeout);
  return {
    type,
    happened: `answered ${status}`,
    ...(type === FAILURES.timeout && !TOO_LATE.has(status) && { health: 'bad' }),
    reason: reasonIn(body),
    nextRetryDelayMs: retryDelayIn({ headers, body: text }),
  };
}

/** Failures that a vendor's code or message identifies better than the status; the first match wins. */
const NAMED: readonly (readonly [words: RegExp, type: ProviderFailureType])[] = [
  // Account without credit: OpenAI sends 429, Anthropic 400 with only a message. Gemini also says "quota" for its
  // limits per minute; only the name of the quota distinguishes them from those per day.
  [
    /"(?:insufficient_quota|billing_\w{1,100}|insufficient_credits)"|"\w{0,100}PerDay|credit balance is too low/i,
    FAILURES.quotaExceeded,
  ],
  // Gemini rejects an invalid key with 400.
  [/"(?:api_key_invalid|invalid_api_key)"/i, FAILURES.authentication],
  // Unknown model under 400; OpenRouter, Mistral and DeepSeek say so only in the message.
  [
    /"(?:model_not_found"|invalid_model"|invalid model\b|model not (?:exist|found))|is not a valid model/i,
    FAILURES.notFound,
  ],
];

/** Failure types by status. For any other, the request is wrong below 500; from 500 on, a gateway lost the answer. */
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

/** Statuses of a request that took too long; every other one of type `timeout` says that a server behind it is down. */
const TOO_LATE: ReadonlySet<number> = new Set([408, 504, 524]);

/** Returns the server's message from the body of an error, whichever field it is in, or else the body itself. */
export function reasonIn(body: string): string {
  if (body.trimStart().startsWith('<')) return 'a web page';
  const { error, message, detail } = fieldsOf(readJson(body));
  const sentences = [fieldsOf(error).message, error, message, detail, body];
  return sentences.find((sentence) => typeof sentence === 'string') ?? '';
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return Object(value) as Readonly<Record<string, unknown>>;
}

/** Parses JSON. Returns null if that fails, e.g. for a bare `NaN`, which Python writes and JSON lacks. */
export function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** Longest wait for a provider; the run's own time limit matters more than a distant date. */
const LONGEST_MS = 10 * 60 * 1000;

/**
 * Returns the wait in milliseconds that the provider asks for, at most 10 minutes: by `retry-after-ms` (OpenAI), by
 * `retry-after` in seconds or as a date (RFC 9110), or by Google's `RetryInfo`. Returns null if it does not say.
 */
export function retryDelayIn({ headers, body }: Pick<HttpAnswer, 'headers' | 'body'>): number | null {
  const after = headers.get('retry-after') ?? '';
  // A date is by the server's clock, which its answer tells.
  const now = Date.parse(headers.get('date') ?? '') || Date.now();
  const [, info] = /"retryDelay":\s{0,10}"(\d{1,15}(?:\.\d{1,15})?)s"/.exec(body) ?? [];
  const waits = [
    Number(headers.get('retry-after-ms')),
    Number(after) * 1000,
    Date.parse(after) - now,
    Number(info) * 1000,
  ];
  const waitMs = waits.find((ms) => ms > 0);
  return waitMs === undefined ? null : Math.min(Math.ceil(waitMs), LONGEST_MS);
}

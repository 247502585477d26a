import { ConductorError } from '../../errors';
import { FAILURES, type FailureType } from '../../protocol/failures';
import { UnreadableReply } from './reply';
import { causesOf, type HttpError, type NetworkFault, readNetworkFault, TransportError } from './transport';

export type ProviderFailureType = Extract<FailureType, `Provider.${string}`>;

export interface Consequence {
  /** True where Temporal tries again behind the workflow's back. */
  readonly retryable: boolean;
  /** Whether the provider charges for it. Never `unknown` or `yes` where Temporal tries again. */
  readonly billed: 'no' | 'unknown' | 'yes';
  readonly remedy: string;
}

export interface Diagnosis extends Partial<Pick<Consequence, 'billed' | 'remedy'>> {
  readonly type: ProviderFailureType;
  /** Verb phrase with the provider as its subject: `answered 401`. */
  readonly happened: string;
  /** In the provider's or the system's own words: may hold a key. */
  readonly reason: string;
  readonly nextRetryDelayMs?: number | null;
}

function retried(remedy: string): Consequence {
  return { retryable: true, billed: 'no', remedy };
}

function final(billed: Consequence['billed'], remedy: string): Consequence {
  const all = billed === 'unknown' ? `${remedy}; the call may have been billed.` : remedy;
  return { retryable: false, billed, remedy: all };
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

/** Judges whatever an SDK threw, except for a cancellation and our own time-out. */
export function diagnose(error: unknown): Diagnosis {
  if (error instanceof DiagnosedError) return error.diagnosis;
  const causes = causesOf(error);
  const thrown = causes.find((link) => link instanceof TransportError);
  const problem = thrown?.problem ?? readNetworkFault(error);
  if (problem !== null) return 'status' in problem ? diagnoseHttp(problem) : diagnoseNetwork(problem);
  // Thrown by us; the SDKs pass on what JSON.parse throws.
  const unreadable = causes.find((link) => link instanceof UnreadableReply || link.name === 'SyntaxError');
  if (unreadable !== undefined) {
    const { message: reason } = unreadable;
    return { type: FAILURES.badResponse, happened: 'sent an answer that cannot be read', reason };
  }
  const reason = causes[0]?.message ?? String(error);
  return { type: FAILURES.badRequest, happened: 'could not be asked', reason };
}

function diagnoseNetwork({ sent, reason }: NetworkFault): Diagnosis {
  return sent
    ? { type: FAILURES.interrupted, happened: 'closed the connection before its answer was whole', reason }
    : { type: FAILURES.unavailable, happened: 'could not be reached', reason };
}

/** The beginning of an error's body, which holds all that is looked for in it. */
const MOST_READ = 16_384;

function diagnoseHttp({ status, headers, body }: HttpError): Diagnosis {
  const text = body.slice(0, MOST_READ);
  const named = NAMED.find(([words]) => words.test(text));
  return {
    type: named?.[1] ?? TYPES[status] ?? (status < 500 ? FAILURES.badRequest : FAILURES.timeout),
    happened: `answered ${status}`,
    reason: reasonIn(body),
    nextRetryDelayMs: retryDelayIn({ headers, body: text }),
  };
}

/** Failures that the vendors' codes and words tell more about than the status; the first that fits. */
const NAMED: readonly (readonly [words: RegExp, type: ProviderFailureType])[] = [
  // An account without money: OpenAI under 429, Anthropic under 400 by words alone. Gemini says "quota" for its limits
  // per minute too; only the name of the quota tells them from a day's.
  [
    /"(?:insufficient_quota|billing_\w{1,100}|insufficient_credits)"|"\w{0,100}PerDay|credit balance is too low/i,
    FAILURES.quotaExceeded,
  ],
  // Gemini rejects a key with 400.
  [/"(?:api_key_invalid|invalid_api_key)"/i, FAILURES.authentication],
  // A model that is not there under 400: OpenRouter, Mistral and DeepSeek by words alone.
  [
    /"(?:model_not_found"|invalid_model"|invalid model\b|model not (?:exist|found))|is not a valid model/i,
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

/** The server's own sentence in the body of an error, whichever field it is in; else the body itself. */
export function reasonIn(body: string): string {
  if (body.trimStart().startsWith('<')) return 'a web page';
  const { error, message, detail } = fieldsOf(readJson(body));
  const sentences = [fieldsOf(error).message, error, message, detail, body];
  return sentences.find((sentence) => typeof sentence === 'string') ?? '';
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return Object(value) as Readonly<Record<string, unknown>>;
}

/** The value that a text spells; null where it spells none, a bare `NaN` among it, which Python writes and JSON lacks. */
export function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** No provider is waited for longer: the run's own wall clock is worth more than a far date. */
const LONGEST_MS = 10 * 60 * 1000;

/**
 * When the provider wants to be asked again, in milliseconds from now, at most 10 minutes: by `retry-after-ms` (OpenAI),
 * by `retry-after` in seconds or as a date (RFC 9110), or by Google's `RetryInfo`; null where it does not say.
 */
export function retryDelayIn({ headers, body }: Pick<HttpError, 'headers' | 'body'>): number | null {
  const after = headers.get('retry-after') ?? '';
  const [, info] = /"retryDelay":\s{0,10}"(\d{1,15}(?:\.\d{1,15})?)s"/.exec(body) ?? [];
  const waits = [
    Number(headers.get('retry-after-ms')),
    Number(after) * 1000,
    Date.parse(after) - Date.now(),
    Number(info) * 1000,
  ];
  const waitMs = waits.find((ms) => ms > 0);
  return waitMs === undefined ? null : Math.min(Math.ceil(waitMs), LONGEST_MS);
}

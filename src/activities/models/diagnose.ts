import { FAILURES } from '../../protocol/failures';
import { diagnoseHttp } from './diagnose-http';
import { diagnosePolicy } from './diagnose-policy';
import type { Diagnosis } from './diagnosis';
import { isErrorLike } from './error-like';
import { readHttpError } from './http-error';
import { readNetworkFault, type NetworkFault } from './network-error';
import { UnreadableReply } from './read-reply';
import { PolicyError } from '../../policy/policy-error';

/** Judges whatever an SDK threw, cancellation and our own time-out apart. */
export function diagnose(error: unknown): Diagnosis {
  if (error instanceof PolicyError) return diagnosePolicy(error);
  const http = readHttpError(error);
  if (http !== null) return diagnoseHttp(http, Date.now());
  const fault = readNetworkFault(error);
  if (fault !== null) return diagnoseFault(fault);
  const reason = isErrorLike(error) ? error.message : String(error);
  // The SDKs pass on what JSON.parse throws.
  if (error instanceof UnreadableReply || isNamed(error, 'SyntaxError')) {
    return { type: FAILURES.badResponse, happened: 'sent an answer that cannot be read', reason };
  }
  // The SDKs' own clock, which runs beside ours.
  if (isNamed(error, 'APIConnectionTimeoutError')) {
    return { type: FAILURES.timeout, happened: 'gave no answer in time', reason };
  }
  return { type: FAILURES.badRequest, happened: 'could not be asked', reason };
}

const OUT_OF_TIME = new Set(['ETIMEDOUT', 'UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT']);

function diagnoseFault({ code, sent, reason }: NetworkFault): Diagnosis {
  // fetch will never ask such a URL.
  if (code === null) return { type: FAILURES.badRequest, happened: 'could not be asked', reason };
  if (!sent) return { type: FAILURES.unavailable, happened: 'could not be reached', reason };
  if (OUT_OF_TIME.has(code)) return { type: FAILURES.timeout, happened: 'gave no answer in time', reason };
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

import { isErrorLike } from '../activities/models/error-like';
import { readNetworkFault } from '../activities/models/network-error';
import { redact } from '../activities/models/redact';
import { sendOnce } from '../activities/models/transport';
import { POLICY_FAILURES } from '../training/policy-failures';
import { PolicyError } from './policy-error';
import { refusalSchema } from './policy-reply';
import { readJson } from './read-json';

/** What a policy server answered: a body that is not looked into yet, or its reason to refuse. */
export type Answer =
  | { readonly ok: true; readonly body: string }
  | { readonly ok: false; readonly status: number; readonly reason: string };

/**
 * Sends one request to a policy server.
 *
 * @returns the answer; of refusals only those that would be the same next time
 * @throws PolicyError `Policy.Unavailable`; the signal's reason where it was aborted
 */
export async function post(url: string, content: unknown, signal: AbortSignal): Promise<Answer> {
  const { status, body } = await exchange(url, content, signal);
  if (status >= 200 && status < 300) return { ok: true, body };
  const reason = reasonIn(body);
  if (status >= 500 || status === 408 || status === 429) {
    throw unavailable(`the policy server answered ${status} to ${url}${reason === '' ? '' : `: ${reason}`}`);
  }
  return { ok: false, status, reason };
}

async function exchange(
  url: string,
  content: unknown,
  signal: AbortSignal,
): Promise<{ status: number; body: string }> {
  try {
    const response = await sendOnce(url, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(content),
      signal,
    });
    return { status: response.status, body: await response.text() };
  } catch (error) {
    signal.throwIfAborted();
    const fault = readNetworkFault(error);
    const reason = fault?.reason ?? (isErrorLike(error) ? error.message : String(error));
    throw unavailable(`the policy server gave no answer to ${url}: ${redact(reason, null)}`);
  }
}

function unavailable(happened: string): PolicyError {
  return new PolicyError(
    POLICY_FAILURES.unavailable,
    happened,
    'Check that it runs and can be reached from this worker; the request is made again by itself.',
  );
}

function reasonIn(body: string): string {
  const { success, data } = refusalSchema.safeParse(readJson(body));
  return redact(success ? data : '', null).replace(/[\s.]+$/, '');
}

import { isErrorLike } from '../activities/models/error-like';
import { readNetworkFault } from '../activities/models/network-error';
import { redact } from '../activities/models/redact';
import { sendOnce } from '../activities/models/transport';
import type { Answer } from './answer';
import { refusalSchema } from './policy-reply';
import { readJson } from './read-json';
import { unavailable } from './refusals';

/**
 * Sends one request to a policy server.
 *
 * @throws PolicyError `Policy.Unavailable` where no answer came; the signal's reason where it was aborted
 */
export async function post(url: string, content: unknown, signal: AbortSignal): Promise<Answer> {
  try {
    const response = await sendOnce(url, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(content),
      signal,
    });
    const body = await response.text();
    return response.ok ? { ok: true, body } : { ok: false, status: response.status, reason: reasonIn(body) };
  } catch (error) {
    signal.throwIfAborted();
    const fault = readNetworkFault(error);
    const reason = fault?.reason ?? (isErrorLike(error) ? error.message : String(error));
    throw unavailable(`the policy server gave no answer to ${url}: ${redact(reason, null)}`);
  }
}

function reasonIn(body: string): string {
  const { success, data } = refusalSchema.safeParse(readJson(body));
  return redact(success ? data : '', null).replace(/[\s.]+$/, '');
}

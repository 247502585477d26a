import { connection } from './connection';
import { noteServerTime } from './server-clock';

/** Error response of the gateway, with its own message. */
export class Refused extends Error {
  override readonly name = 'Refused';

  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

/** The gateway cannot be reached; the request may be retried. */
export class Unreachable extends Error {
  override readonly name = 'Unreachable';
}

interface Sent {
  readonly method?: 'GET' | 'POST' | 'DELETE';
  readonly body?: object;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Sends a request to the gateway and returns its response body. @throws Refused, Unreachable */
export async function request<Answer>(
  path: string,
  { method = 'GET', body, headers }: Sent = {},
): Promise<Answer> {
  const response = await reach(path, {
    method,
    headers: { ...headers, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  });
  const answer: unknown = await response.json().catch(() => null);
  if (!response.ok)
    throw new Refused(response.status, wordsOf(answer) ?? `the gateway answered ${response.status}`);
  return answer as Answer;
}

/** Sends a request and records whether the gateway could be reached. @throws Unreachable */
export async function reach(path: string, init: RequestInit): Promise<Response> {
  const response = await fetch(path, { credentials: 'same-origin', ...init }).catch((cause: unknown) => {
    if (init.signal?.aborted === true) throw cause;
    connection.set('lost');
    throw new Unreachable('the gateway cannot be reached: check that it is running', { cause });
  });
  connection.set('there');
  noteServerTime(response);
  return response;
}

function wordsOf(answer: unknown): string | null {
  const { error } = (answer ?? {}) as { readonly error?: { readonly message?: unknown } };
  return typeof error?.message === 'string' ? error.message : null;
}

export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { Refusal } from './refusal';

/** Who may ask a codec server. */
export interface Admission {
  /** Of web pages, e.g. `http://127.0.0.1:8233`. What is no page sends no origin, and passes. */
  readonly origins: readonly string[];
  /** What must follow `Authorization: Bearer`; null asks for none. */
  readonly token: string | null;
  /** The one whose payloads the keys belong to. */
  readonly namespace: string;
}

/**
 * Headers that let a page read the answer (https://fetch.spec.whatwg.org/#http-cors-protocol).
 *
 * @throws Refusal for a page of another origin, so that no page of a stranger uses a reader's way to the keys
 */
export function corsHeaders({ origin }: IncomingHttpHeaders, { origins }: Admission): Record<string, string> {
  if (origin === undefined) return {};
  if (!origins.includes(origin)) {
    throw new Refusal(
      403,
      `pages of ${origin} may not ask this codec server: start it with --origin ${origin} if they shall`,
    );
  }
  return {
    'access-control-allow-origin': origin,
    'access-control-allow-credentials': 'true',
    vary: 'origin',
  };
}

/** What a browser asks for before it sends the headers that Temporal's page adds. */
export const PREFLIGHT_HEADERS: Readonly<Record<string, string>> = {
  'access-control-allow-methods': 'POST',
  'access-control-allow-headers': 'authorization, authorization-extras, content-type, x-namespace',
  'access-control-max-age': '3600',
};

/** @throws Refusal for a token that is missing or wrong, and for another namespace */
export function checkAdmission(headers: IncomingHttpHeaders, { token, namespace }: Admission): void {
  if (token !== null && !isEqual(bearerOf(headers), token)) {
    throw new Refusal(401, 'this codec server wants "Authorization: Bearer" with its token', {
      'www-authenticate': 'Bearer',
    });
  }
  const asked = headers['x-namespace'];
  if (asked !== undefined && asked !== namespace) {
    throw new Refusal(
      403,
      `this codec server has the keys of namespace ${JSON.stringify(namespace)}, not of ${JSON.stringify(asked)}`,
    );
  }
}

function bearerOf({ authorization = '' }: IncomingHttpHeaders): string {
  return /^Bearer +(.*)$/i.exec(authorization)?.[1] ?? '';
}

/** In a time that tells neither how much of a guess is right nor how long the token is. */
function isEqual(guess: string, token: string): boolean {
  return timingSafeEqual(digestOf(guess), digestOf(token));
}

function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

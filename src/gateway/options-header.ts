import type { MiddlewareHandler } from 'hono';
import { explainSent } from '../config/errors';
import { isRecord } from '../plan/validate';
import { badRequest } from './refusal';
import { type Extension, extensionSchema } from './solve/request-fields';

/** Header with a request's `conductor` object in JSON, for clients that have settings for headers but none for fields. */
const OPTIONS_HEADER = 'x-conductor-options';

/** Puts what the header asks for into the body before anything reads it: from here on, there is one way to ask. */
export function takeOptions(): MiddlewareHandler {
  return async (c, next) => {
    const header = c.req.header(OPTIONS_HEADER);
    if (header !== undefined && c.req.method === 'POST') {
      const body = withOptions(parse(await c.req.text()), optionsIn(header));
      const { url, method, headers, signal } = c.req.raw;
      // Leaves an invalid body to its route, which reports it.
      if (body !== null) {
        c.req.raw = new Request(url, { method, headers, signal, body });
        c.req.bodyCache = {};
      }
    }
    await next();
  };
}

/** Returns a body with the options that it does not choose itself; null if it is none that could have them. */
function withOptions(body: unknown, options: Extension): string | null {
  if (!isRecord(body)) return null;
  const { conductor } = body;
  const own = conductor ?? {};
  return isRecord(own) ? JSON.stringify({ ...body, conductor: { ...options, ...own } }) : null;
}

/** @throws Refusal */
function optionsIn(header: string): Extension {
  const sent = parse(header);
  const { success, data, error } = extensionSchema.safeParse(sent);
  if (success) return data;
  throw badRequest(
    `${explainSent(error, sent, OPTIONS_HEADER)}; send the fields of conductor as JSON`,
    OPTIONS_HEADER,
  );
}

function parse(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

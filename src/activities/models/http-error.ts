import { z } from 'zod';
import { isErrorLike } from './error-like';

/** An answer other than 2xx, in no SDK's words. */
export interface HttpError {
  readonly status: number;
  /** What the provider said, as it said it: may hold a key. */
  readonly reason: string;
  /** The provider's own names for what went wrong, in lower case. */
  readonly codes: readonly string[];
  /** Google's list of typed details (google.rpc.Status); empty elsewhere. */
  readonly details: readonly unknown[];
  /** null where the SDK does not keep them: Google's. */
  readonly headers: Pick<Headers, 'get'> | null;
}

const named = z
  .union([z.string(), z.number().transform(String)])
  .optional()
  .catch(undefined);

const problemSchema = z.object({
  message: z.string().optional().catch(undefined),
  code: named,
  type: named,
  status: named,
  details: z.array(z.unknown()).optional().catch(undefined),
});

/** The vendors' bodies hold the problem under `error`; OpenAI's SDK hands over what is inside. */
const bodySchema = z.union([
  z.object({ error: problemSchema }).transform(({ error }) => error),
  problemSchema,
]);

/** Details that carry a code of their own (google.rpc.ErrorInfo), and which quota was used up (QuotaFailure). */
const detailSchema = z.object({
  reason: z.string().optional(),
  violations: z.array(z.object({ quotaId: z.string().optional() })).optional(),
});

/**
 * Reads what all three SDKs throw for an answer other than 2xx; null for any other error.
 *
 * By shape, not by class: an SDK is loaded on first use only, and two copies of one do not share a class.
 */
export function readHttpError(error: unknown): HttpError | null {
  if (!isErrorLike(error) || !('status' in error) || typeof error.status !== 'number') return null;
  const body = bodySchema.safeParse('error' in error ? error.error : readJson(error.message));
  const { message, details = [], code, type, status } = body.success ? body.data : {};
  return {
    status: error.status,
    reason: plainReason(message ?? error.message.replace(/^\d{3} /, '')),
    codes: [code, type, status, ...details.flatMap(codesIn)].flatMap((name) => name?.toLowerCase() ?? []),
    details,
    headers: 'headers' in error && isHeaders(error.headers) ? error.headers : null,
  };
}

/** Proxies answer in their own name with a page of HTML, which Google's SDK puts into a body of its own making. */
function plainReason(text: string): string {
  if (!/^\s*<(!doctype|html)\b/i.test(text)) return text;
  const title = /<title[^>]*>([^<]*)/i.exec(text)?.[1]?.trim() ?? '';
  return title === '' ? 'a web page' : `a web page titled "${title}"`;
}

function codesIn(detail: unknown): (string | undefined)[] {
  const { data } = detailSchema.safeParse(detail);
  return [data?.reason, ...(data?.violations ?? []).map(({ quotaId }) => quotaId)];
}

/** Google's SDK puts the whole body, as JSON, into the message. */
function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function isHeaders(value: unknown): value is Pick<Headers, 'get'> {
  return typeof value === 'object' && value !== null && 'get' in value && typeof value.get === 'function';
}

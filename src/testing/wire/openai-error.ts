import type { ErrorFaultKind } from '../faults';
import type { WireError } from './wire';

const ERRORS: Record<ErrorFaultKind, readonly [status: number, type: string, code: string | null]> = {
  'bad-request': [400, 'invalid_request_error', null],
  unauthorized: [401, 'invalid_request_error', null],
  'invalid-key': [401, 'invalid_request_error', 'invalid_api_key'],
  forbidden: [403, 'request_forbidden', 'unsupported_country_region_territory'],
  'not-found': [404, 'invalid_request_error', 'model_not_found'],
  'request-timeout': [408, 'timeout', null],
  'too-large': [413, 'invalid_request_error', null],
  unprocessable: [422, 'invalid_request_error', null],
  'rate-limited': [429, 'requests', 'rate_limit_exceeded'],
  'quota-exceeded': [429, 'insufficient_quota', 'insufficient_quota'],
  'server-error': [500, 'server_error', null],
  'bad-gateway': [502, 'server_error', null],
  unavailable: [503, 'server_error', null],
  'gateway-timeout': [504, 'server_error', null],
  overloaded: [529, 'server_error', null],
};

/** The same for a response in the background that fails after it was begun: such an error always has a code. */
export function lateError(kind: ErrorFaultKind, message: string): { code: string; message: string } {
  const [, type, code] = ERRORS[kind];
  return { code: code ?? type, message };
}

/** OpenAI's error body, the same in both of its APIs (platform.openai.com/docs/guides/error-codes). */
export function encodeOpenAiError(kind: ErrorFaultKind, message: string): WireError {
  const [status, type, code] = ERRORS[kind];
  return { status, body: { error: { message, type, param: null, code } } };
}

import { APIError as AnthropicError } from '@anthropic-ai/sdk';
import { ApiError as GoogleError } from '@google/genai';
import { APIError as OpenAiError } from 'openai';
import { startSimulatedProviders } from '../../../src/testing';
import type { Fault, Protocol, SimulatedProviders } from '../../../src/testing';
import { ERROR_FAULTS } from '../../../src/testing/faults';
import { SDK_CLIENTS } from '../sdk-clients';

let providers: SimulatedProviders;
beforeEach(async () => {
  providers = await startSimulatedProviders();
});
afterEach(() => providers.close());

/** Error that the vendor's SDK throws at a fault. */
async function errorOf(protocol: Protocol, fault: Fault): Promise<unknown> {
  providers.script('model', [fault]);
  return SDK_CLIENTS[protocol](providers.url).catch((error: unknown) => error);
}

function headerOf(error: unknown, name: string): string | null {
  if (error instanceof OpenAiError || error instanceof AnthropicError) {
    const headers: unknown = error.headers;
    if (headers instanceof Headers) return headers.get(name);
  }
  throw error;
}

test.each(['openai-chat', 'openai-responses'] as const)(
  '%s: every error, as the SDK reads it',
  async (protocol) => {
    const read: unknown[] = [];
    for (const fault of ERROR_FAULTS) {
      const error = await errorOf(protocol, { fault });
      if (!(error instanceof OpenAiError)) throw error;
      read.push([fault, error.constructor.name, error.status, error.type, error.code]);
    }
    expect(read).toEqual([
      ['bad-request', 'BadRequestError', 400, 'invalid_request_error', null],
      ['unauthorized', 'AuthenticationError', 401, 'invalid_request_error', null],
      ['invalid-key', 'AuthenticationError', 401, 'invalid_request_error', 'invalid_api_key'],
      [
        'forbidden',
        'PermissionDeniedError',
        403,
        'request_forbidden',
        'unsupported_country_region_territory',
      ],
      ['not-found', 'NotFoundError', 404, 'invalid_request_error', 'model_not_found'],
      ['request-timeout', 'APIError', 408, 'timeout', null],
      ['too-large', 'APIError', 413, 'invalid_request_error', null],
      ['unprocessable', 'UnprocessableEntityError', 422, 'invalid_request_error', null],
      ['rate-limited', 'RateLimitError', 429, 'requests', 'rate_limit_exceeded'],
      ['quota-exceeded', 'RateLimitError', 429, 'insufficient_quota', 'insufficient_quota'],
      ['server-error', 'InternalServerError', 500, 'server_error', null],
      ['bad-gateway', 'InternalServerError', 502, 'server_error', null],
      ['unavailable', 'InternalServerError', 503, 'server_error', null],
      ['gateway-timeout', 'InternalServerError', 504, 'server_error', null],
      ['overloaded', 'InternalServerError', 529, 'server_error', null],
    ]);
  },
);

test('anthropic: every error, as the SDK reads it', async () => {
  const read: unknown[] = [];
  for (const fault of ERROR_FAULTS) {
    const error = await errorOf('anthropic', { fault });
    if (!(error instanceof AnthropicError)) throw error;
    read.push([fault, error.constructor.name, error.status, error.type]);
  }
  expect(read).toEqual([
    ['bad-request', 'BadRequestError', 400, 'invalid_request_error'],
    ['unauthorized', 'AuthenticationError', 401, 'authentication_error'],
    ['invalid-key', 'AuthenticationError', 401, 'authentication_error'],
    ['forbidden', 'PermissionDeniedError', 403, 'permission_error'],
    ['not-found', 'NotFoundError', 404, 'not_found_error'],
    ['request-timeout', 'RequestTimeoutError', 408, 'timeout_error'],
    ['too-large', 'ContentTooLargeError', 413, 'request_too_large'],
    ['unprocessable', 'UnprocessableEntityError', 422, 'invalid_request_error'],
    ['rate-limited', 'RateLimitError', 429, 'rate_limit_error'],
    ['quota-exceeded', 'PaymentRequiredError', 402, 'billing_error'],
    ['server-error', 'InternalServerError', 500, 'api_error'],
    ['bad-gateway', 'InternalServerError', 502, 'api_error'],
    ['unavailable', 'ServiceUnavailableError', 503, 'api_error'],
    ['gateway-timeout', 'GatewayTimeoutError', 504, 'timeout_error'],
    ['overloaded', 'OverloadedError', 529, 'overloaded_error'],
  ]);
});

interface GoogleBody {
  readonly error: { readonly code: number; readonly status: string; readonly details?: readonly object[] };
}

async function googleErrorOf(fault: Fault): Promise<GoogleBody['error']> {
  const error = await errorOf('google', fault);
  if (!(error instanceof GoogleError)) throw error;
  const body = JSON.parse(error.message) as GoogleBody;
  expect(body.error.code).toBe(error.status);
  return body.error;
}

test('google: every error, as the SDK reads it', async () => {
  const read: unknown[] = [];
  for (const fault of ERROR_FAULTS) {
    const { code, status } = await googleErrorOf({ fault });
    read.push([fault, code, status]);
  }
  expect(read).toEqual([
    ['bad-request', 400, 'INVALID_ARGUMENT'],
    ['unauthorized', 401, 'UNAUTHENTICATED'],
    ['invalid-key', 400, 'INVALID_ARGUMENT'],
    ['forbidden', 403, 'PERMISSION_DENIED'],
    ['not-found', 404, 'NOT_FOUND'],
    ['request-timeout', 408, 'DEADLINE_EXCEEDED'],
    ['too-large', 413, 'INVALID_ARGUMENT'],
    ['unprocessable', 422, 'INVALID_ARGUMENT'],
    ['rate-limited', 429, 'RESOURCE_EXHAUSTED'],
    ['quota-exceeded', 429, 'RESOURCE_EXHAUSTED'],
    ['server-error', 500, 'INTERNAL'],
    ['bad-gateway', 502, 'UNAVAILABLE'],
    ['unavailable', 503, 'UNAVAILABLE'],
    ['gateway-timeout', 504, 'DEADLINE_EXCEEDED'],
    ['overloaded', 529, 'UNAVAILABLE'],
  ]);
});

test('google: details tell a wrong key from a wrong request, and a day from a minute', async () => {
  expect((await googleErrorOf({ fault: 'invalid-key' })).details).toMatchObject([
    { reason: 'API_KEY_INVALID' },
  ]);
  expect((await googleErrorOf({ fault: 'rate-limited' })).details).toMatchObject([
    { violations: [{ quotaId: expect.stringContaining('PerMinute') as string }] },
  ]);
  expect((await googleErrorOf({ fault: 'quota-exceeded' })).details).toMatchObject([
    { violations: [{ quotaId: expect.stringContaining('PerDay') as string }] },
  ]);
  expect(await googleErrorOf({ fault: 'bad-request' })).not.toHaveProperty('details');
});

test('google: a delay in the details', async () => {
  const error = await googleErrorOf({ fault: 'rate-limited', retryAfter: { ms: 34_074, as: 'retry-info' } });
  expect(error.details).toContainEqual({
    '@type': 'type.googleapis.com/google.rpc.RetryInfo',
    retryDelay: '34.074s',
  });
});

test('a delay in each form of header', async () => {
  const delayOf = async (as: 'milliseconds' | 'seconds' | 'date'): Promise<unknown> => {
    const error = await errorOf('openai-chat', { fault: 'rate-limited', retryAfter: { ms: 90_500, as } });
    return [headerOf(error, 'retry-after-ms'), headerOf(error, 'retry-after')];
  };
  expect(await delayOf('milliseconds')).toEqual(['90500', null]);
  expect(await delayOf('seconds')).toEqual([null, '91']);

  const before = Date.now();
  const [, date] = (await delayOf('date')) as [null, string];
  expect(date).toMatch(/^\w{3}, \d{2} \w{3} \d{4} \d{2}:\d{2}:\d{2} GMT$/);
  // A date has whole seconds only.
  expect(Date.parse(date)).toBeGreaterThanOrEqual(before + 89_500);
  expect(Date.parse(date)).toBeLessThanOrEqual(Date.now() + 90_500);
});

test('no delay unless told, and a message of the test’s own', async () => {
  const error = await errorOf('anthropic', { fault: 'invalid-key', message: 'invalid x-api-key: abc' });
  if (!(error instanceof AnthropicError)) throw error;
  expect(error.apiMessage).toBe('invalid x-api-key: abc');
  expect(headerOf(error, 'retry-after')).toBeNull();
  expect(error.requestID).toBe('req_1');
});

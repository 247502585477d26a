import { APIError as AnthropicError } from '@anthropic-ai/sdk';
import { ApiError as GoogleError } from '@google/genai';
import { APIError as OpenAiError } from 'openai';
import type { Fault, Protocol } from '../../../src/testing';
import { type ErrorFaultKind, ERRORS } from '../../../src/testing/faults';
import { SDK_CLIENTS } from '../sdk-clients';
import { useProviders } from '../use-providers';

const providers = useProviders();

/** Returns the error that the vendor's SDK throws for a fault. */
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

/** Status of each error, and its code at OpenAI, Anthropic and Google, as the SDKs read them. */
const WORDS: Readonly<Record<ErrorFaultKind, [number, string, string, string]>> = {
  'bad-request': [400, 'invalid_request_error', 'invalid_request_error', 'INVALID_ARGUMENT'],
  unauthorized: [401, 'invalid_request_error', 'authentication_error', 'UNAUTHENTICATED'],
  'invalid-key': [401, 'invalid_api_key', 'authentication_error', 'INVALID_ARGUMENT'],
  forbidden: [403, 'unsupported_country_region_territory', 'permission_error', 'PERMISSION_DENIED'],
  'not-found': [404, 'model_not_found', 'not_found_error', 'NOT_FOUND'],
  'request-timeout': [408, 'timeout', 'timeout_error', 'DEADLINE_EXCEEDED'],
  'too-large': [413, 'invalid_request_error', 'request_too_large', 'INVALID_ARGUMENT'],
  unprocessable: [422, 'invalid_request_error', 'invalid_request_error', 'INVALID_ARGUMENT'],
  'rate-limited': [429, 'rate_limit_exceeded', 'rate_limit_error', 'RESOURCE_EXHAUSTED'],
  'quota-exceeded': [429, 'insufficient_quota', 'billing_error', 'RESOURCE_EXHAUSTED'],
  'server-error': [500, 'server_error', 'api_error', 'INTERNAL'],
  'bad-gateway': [502, 'server_error', 'api_error', 'UNAVAILABLE'],
  unavailable: [503, 'server_error', 'api_error', 'UNAVAILABLE'],
  'gateway-timeout': [504, 'server_error', 'timeout_error', 'DEADLINE_EXCEEDED'],
  overloaded: [529, 'server_error', 'overloaded_error', 'UNAVAILABLE'],
};

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

test.each(Object.keys(ERRORS) as ErrorFaultKind[])(
  '%s is read by each SDK with its status and code',
  async (fault) => {
    const [status, openai, anthropic, google] = WORDS[fault];
    for (const protocol of ['openai-chat', 'openai-responses'] as const) {
      const error = await errorOf(protocol, { fault });
      if (!(error instanceof OpenAiError)) throw error;
      expect([error.status, error.code ?? error.type]).toEqual([status, openai]);
    }
    // Anthropic answers 402 when the quota is used up; Gemini answers 400 to an invalid key.
    const paid = fault === 'quota-exceeded' ? 402 : status;
    expect(await errorOf('anthropic', { fault })).toMatchObject({ status: paid, type: anthropic });
    const known = fault === 'invalid-key' ? 400 : status;
    expect(await googleErrorOf({ fault })).toMatchObject({ code: known, status: google });
  },
);

test('google: details distinguish a bad key from a bad request and daily from minute quotas, and give a delay', async () => {
  const detailsOf = async (fault: Fault) => (await googleErrorOf(fault)).details;
  const quota = (words: string) => [{ violations: [{ quotaId: expect.stringContaining(words) as string }] }];
  expect(await detailsOf({ fault: 'invalid-key' })).toMatchObject([{ reason: 'API_KEY_INVALID' }]);
  expect(await detailsOf({ fault: 'rate-limited' })).toMatchObject(quota('PerMinute'));
  expect(await detailsOf({ fault: 'quota-exceeded' })).toMatchObject(quota('PerDay'));
  expect(await detailsOf({ fault: 'bad-request' })).toBeUndefined();
  const retryAfter = { ms: 34_074, as: 'retry-info' } as const;
  expect(await detailsOf({ fault: 'rate-limited', retryAfter })).toContainEqual({
    '@type': 'type.googleapis.com/google.rpc.RetryInfo',
    retryDelay: '34.074s',
  });
});

test('a delay is sent in each form of header', async () => {
  const delayOf = async (as: 'milliseconds' | 'seconds' | 'date'): Promise<unknown> => {
    const error = await errorOf('openai-chat', { fault: 'rate-limited', retryAfter: { ms: 90_500, as } });
    return [headerOf(error, 'retry-after-ms'), headerOf(error, 'retry-after')];
  };
  expect(await delayOf('milliseconds')).toEqual(['90500', null]);
  expect(await delayOf('seconds')).toEqual([null, '91']);

  const before = Date.now();
  const [, date] = (await delayOf('date')) as [null, string];
  expect(date).toMatch(/^\w{3}, \d{2} \w{3} \d{4} \d{2}:\d{2}:\d{2} GMT$/);
  // An HTTP date has whole seconds only.
  expect(Date.parse(date)).toBeGreaterThanOrEqual(before + 89_500);
  expect(Date.parse(date)).toBeLessThanOrEqual(Date.now() + 90_500);
});

test('there is no delay unless requested, and a message can be given', async () => {
  const error = await errorOf('anthropic', { fault: 'invalid-key', message: 'invalid x-api-key: abc' });
  if (!(error instanceof AnthropicError)) throw error;
  expect(error.apiMessage).toBe('invalid x-api-key: abc');
  expect(headerOf(error, 'retry-after')).toBeNull();
  expect(error.requestID).toBe('req_1');
});

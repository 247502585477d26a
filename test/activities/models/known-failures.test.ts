import { diagnose, toProviderFailure } from '../../../src/activities/models';
import { diagnoseHttp } from '../../../src/activities/models/diagnose';
import { KNOWN } from '../../../src/activities/models/failures/known';
import { TransportError } from '../../../src/activities/models/transport';
import { FAILURES } from '../../../src/protocol/failures';
import { aCard, aRequest } from './ask';

const { quotaExceeded, rateLimited, refused, unavailable, authentication, notFound, badRequest, timeout } =
  FAILURES;

/** Returns the failure of a response with this status and body. */
function failureOf(status: number, body: unknown, headers: Record<string, string> = {}) {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const answer = { status, headers: new Headers(headers), body: text };
  return toProviderFailure(new TransportError(diagnoseHttp(answer), answer), aRequest(aCard({})));
}

const error = (fields: object): object => ({ error: fields });
/** A body of Google, whose quotas have names. */
const google = (message: string, quotaId: string): object =>
  error({
    code: 429,
    status: 'RESOURCE_EXHAUSTED',
    message,
    details: [
      { '@type': 'type.googleapis.com/google.rpc.QuotaFailure', violations: [{ quotaId }] },
      { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '1m2s' },
    ],
  });

const PLAN = 'You exceeded your current quota, please check your plan and billing details.';
const XAI = 'has either used all available credits or reached its monthly spending limit';

test.each<[string, number, unknown]>([
  ['OpenAI', 429, error({ message: PLAN, type: 'insufficient_quota', code: 'insufficient_quota' })],
  ['OpenAI, a project', 429, error({ message: 'No.', type: 'x', code: 'project_spend_limit_exceeded' })],
  ['OpenAI, prepaid', 429, error({ message: 'No.', code: 'credit_balance_exhausted' })],
  ['OpenAI, inactive', 429, error({ message: 'Check your billing.', code: 'billing_not_active' })],
  ['Anthropic', 400, error({ type: 'invalid_request_error', message: 'Your credit balance is too low.' })],
  [
    'Anthropic, its own limit',
    400,
    error({
      type: 'invalid_request_error',
      message:
        'You have reached your specified workspace API usage limits. You will regain access on 2026-12-01.',
    }),
  ],
  [
    "Anthropic, its tier's limit",
    429,
    error({
      type: 'rate_limit_error',
      message: 'No.',
      details: { error_code: 'enforced_spend_limit_reached' },
    }),
  ],
  ['Google, prepaid', 402, error({ code: 402, message: 'x', status: 'RESOURCE_EXHAUSTED' })],
  [
    'Google, prepaid, as it was',
    429,
    error({ code: 429, message: 'Your prepayment credits are depleted.', status: 'RESOURCE_EXHAUSTED' }),
  ],
  [
    'Google, a spending cap',
    429,
    error({ message: 'Your project has exceeded its monthly spending cap.', status: 'RESOURCE_EXHAUSTED' }),
  ],
  ['Google, a day', 429, google(PLAN, 'GenerateRequestsPerDayPerProjectPerModel-FreeTier')],
  ['Moonshot', 429, error({ message: 'no balance left', type: 'exceeded_current_quota_error' })],
  [
    'Moonshot, in words',
    403,
    error({ message: 'Your account org-1 is suspended due to insufficient balance, please recharge.' }),
  ],
  ['Zhipu', 429, error({ code: '1113', message: '您的账户已欠费，请充值后重试。' })],
  ['Z.AI', 429, error({ code: '1113', message: 'Insufficient balance or no resource package.' })],
  ['xAI', 403, { code: 'The caller does not have permission', error: `Your team t-1 ${XAI}.` }],
  ['xAI, as text', 429, JSON.stringify(`Your team t-1 ${XAI}.`)],
  ['Alibaba', 400, error({ code: 'Arrearage', message: 'the account is not in good standing' })],
  ['Alibaba, natively', 400, { code: 'Arrearage', message: 'Access denied.', request_id: 'r-1' }],
  [
    'Alibaba, free tier',
    403,
    { code: 'AllocationQuota.FreeTierOnly', message: 'The free tier is exhausted.' },
  ],
  ['DeepSeek', 402, error({ message: 'Insufficient Balance', type: 'unknown_error' })],
  ['Groq', 400, error({ message: 'Blocked.', code: 'blocked_api_access' })],
  [
    'OpenRouter',
    402,
    error({ code: 402, message: 'This request requires more credits, or fewer max_tokens.' }),
  ],
  [
    'OpenRouter, a key',
    403,
    error({
      code: 403,
      message: 'Budget limit exceeded',
      metadata: { limit_source: 'openrouter_key_limit' },
    }),
  ],
  [
    'Fireworks',
    412,
    error({ message: 'Account acme is suspended, possibly due to reaching the monthly spending limit.' }),
  ],
  ['Mistral', 402, { object: 'error', message: 'No.', type: 'x' }],
  ['SiliconFlow', 403, { code: 30001, message: 'Sorry, your account balance is insufficient', data: null }],
  ['Hugging Face', 402, error({ message: 'You have exceeded your monthly included credits.' })],
  ['LiteLLM', 400, error({ message: 'Budget has been exceeded! Current cost: 2', type: 'budget_exceeded' })],
  ['a relay', 429, error({ message: JSON.stringify(error({ code: 'insufficient_quota', message: PLAN })) })],
])('no credit at %s is a permanent failure', (_, status, body) => {
  expect(failureOf(status, body)).toMatchObject({ type: quotaExceeded, retryable: false, billed: 'no' });
});

test.each<[string, number, unknown, number | null]>([
  ['Google, a minute', 429, google(PLAN, 'GenerateRequestsPerMinutePerProjectPerModel-FreeTier'), 62_000],
  ['Google, unnamed', 429, error({ message: PLAN, status: 'RESOURCE_EXHAUSTED' }), null],
  [
    'Groq, which sells more',
    429,
    error({
      message:
        'Rate limit reached for model `m` on tokens per minute (TPM): Limit 6000, Used 5034. Please try again in ' +
        '9m38.016s. Need more tokens? Upgrade to Dev Tier today at https://console.groq.com/settings/billing',
      code: 'rate_limit_exceeded',
    }),
    578_016,
  ],
  [
    'Alibaba, tokens a minute',
    429,
    error({
      message: 'Allocated quota exceeded, please increase your quota limit.',
      type: 'insufficient_quota',
      code: 'insufficient_quota',
    }),
    null,
  ],
  [
    'OpenRouter, requests under way',
    402,
    error({
      code: 402,
      message: 'Insufficient credits',
      metadata: { limit_source: 'openrouter_in_flight_budget' },
    }),
    null,
  ],
  [
    'OpenRouter, which sells credits',
    429,
    error({
      message: 'Rate limit exceeded: free-models-per-min. Add 10 credits to unlock more requests per day',
    }),
    null,
  ],
  [
    'Azure',
    429,
    error({
      message: 'You have exceeded the call rate limit of your S0 tier. Please retry after 20 seconds.',
    }),
    20_000,
  ],
  ['a quota of a minute', 429, error({ message: 'Quota exceeded for requests per minute per user.' }), null],
  [
    "a day's tokens",
    429,
    error({ message: "the day's tokens are used up", code: 'rate_limit_exceeded' }),
    null,
  ],
])('%s: a rate that speaks of money or quota is only a rate', (_, status, body, waitMs) => {
  expect(failureOf(status, body)).toMatchObject({
    type: rateLimited,
    retryable: true,
    nextRetryDelayMs: waitMs,
  });
});

test.each<[string, number, unknown]>([
  ['Azure', 400, error({ code: 'content_filter', message: 'The response was filtered.', status: 400 })],
  [
    'Azure, inside',
    400,
    error({ code: '400', message: 'No.', innererror: { code: 'ResponsibleAIPolicyViolation' } }),
  ],
  ['Moonshot', 400, error({ type: 'content_filter', message: 'It was considered high risk' })],
  [
    'OpenAI',
    400,
    error({
      code: 'invalid_prompt',
      message: 'Invalid prompt: your prompt was flagged as potentially violating our usage policy.',
    }),
  ],
  ['OpenAI, moderation', 400, error({ code: 'moderation_blocked', message: 'No.' })],
  [
    'Anthropic',
    400,
    error({ type: 'invalid_request_error', message: 'Output blocked by content filtering policy' }),
  ],
  ['DeepSeek', 400, error({ message: 'Content Exists Risk', type: 'invalid_request_error' })],
  [
    'xAI',
    403,
    { code: 'permission-denied', error: 'Content violates usage guidelines. Team: t, API key ID: k' },
  ],
  [
    'Alibaba',
    400,
    error({ code: 'data_inspection_failed', message: 'Input data may contain inappropriate content.' }),
  ],
  ['Zhipu', 400, error({ code: '1301', message: '系统检测到输入或生成内容可能包含不安全或敏感内容' })],
  [
    'OpenRouter',
    403,
    error({
      code: 403,
      message: 'x requires moderation',
      metadata: { reasons: ['violence'], flagged_input: 'y' },
    }),
  ],
])('a content filter of %s refuses, and may have charged for it', (_, status, body) => {
  const failure = failureOf(status, body);
  expect(failure).toMatchObject({ type: refused, retryable: false, billed: 'unknown', health: 'good' });
  expect(failure?.message).toContain('Give the step to another worker');
});

test.each<[string, number, unknown]>([
  ['Anthropic', 529, error({ type: 'overloaded_error', message: 'busy' })],
  ['Anthropic behind a gateway', 502, error({ type: 'overloaded_error', message: 'busy' })],
  ['OpenAI', 503, error({ code: 'server_is_overloaded', message: 'busy' })],
  [
    'Moonshot',
    429,
    error({ type: 'engine_overloaded_error', message: 'The engine is currently overloaded' }),
  ],
  ['Zhipu', 429, error({ code: '1305', message: '该模型当前访问量过大，请您稍后再试' })],
  ['Groq', 498, error({ code: 'capacity_exceeded', message: 'Flex Tier Capacity Exceeded' })],
  [
    'Mistral',
    429,
    { object: 'error', message: 'Service tier capacity exceeded for this model.', code: '3505' },
  ],
  ['Google', 503, error({ code: 503, status: 'UNAVAILABLE', message: 'The model is overloaded.' })],
])('%s is overloaded: asked again later, with a remedy that fits', (_, status, body) => {
  const failure = failureOf(status, body);
  expect(failure).toMatchObject({ type: unavailable, retryable: true, billed: 'no' });
  expect(failure?.message).toContain('Try again later');
  expect(failure?.message).not.toContain('baseUrl');
});

test.each<[string, number, unknown, string]>([
  ['an invalid type', 400, error({ message: 'Unsupported content type: image' }), badRequest],
  [
    'a setting of safety',
    400,
    error({ message: "Invalid value at 'safety_settings[0].category'" }),
    badRequest,
  ],
  ['a thinking budget', 400, error({ message: 'thinking_budget exceeds the maximum of 24576' }), badRequest],
  [
    'a repeated prompt',
    422,
    { detail: [{ loc: ['body', 'n'], msg: 'Too many', input: 'no credits left' }] },
    badRequest,
  ],
  ['a data policy', 404, error({ message: 'No endpoints found matching your data policy' }), notFound],
  [
    'an account that is banned',
    403,
    error({ message: 'Your account was blocked for violating our usage policies' }),
    authentication,
  ],
  [
    'a forbidden country',
    403,
    error({ code: 'unsupported_country_region_territory', message: 'x' }),
    authentication,
  ],
  [
    'too large for a rate',
    413,
    error({ message: 'Request too large for model `m` on tokens per minute (TPM)' }),
    badRequest,
  ],
  ['a failing billing service', 500, error({ message: 'The billing service failed.' }), unavailable],
  [
    'too long a prompt under 500',
    500,
    error({ message: 'the prompt exceeds the available context size' }),
    badRequest,
  ],
  ['a model, unknown', 400, { object: 'error', message: 'Invalid model: none', code: '1500' }, notFound],
  ['a key', 400, error({ message: 'API key not valid. Please pass a valid API key.' }), authentication],
])('%s is none of these', (_, status, body, type) => {
  expect(failureOf(status, body)).toMatchObject({ type });
});

const TRIED = 'Check that the server runs and that baseUrl is right; nothing was billed.';

test.each([
  [[521, 522, 523, 525, 526, 530], unavailable, 'bad', TRIED],
  [[500, 503, 529], unavailable, 'bad', 'Try again later'],
  [[502, 520, 527], timeout, 'bad', 'the gateway in front of it'],
  [[408, 504, 524], timeout, 'unknown', 'gave up waiting: stream the answers'],
])('%j: a remedy that fits who failed', (statuses, type, health, remedy) => {
  for (const status of statuses) {
    const failure = failureOf(status, '<!DOCTYPE html><title>Error</title>');
    expect(failure).toMatchObject({ type, health });
    expect(failure?.message).toContain(`answered ${status}: a web page. `);
    expect(failure?.message).toContain(remedy);
  }
});

test('each row names its vendor and source, and an error that fits no row keeps the failure of its status', () => {
  for (const { vendor, source } of KNOWN) {
    expect(vendor).not.toBe('');
    expect(source).toMatch(/^[\w.-]+\.\w+\/\S+$/);
  }
  expect(
    diagnose(new TransportError(diagnoseHttp({ status: 418, headers: new Headers(), body: '' }))).type,
  ).toBe(badRequest);
});

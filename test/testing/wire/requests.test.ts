import { startSimulatedProviders } from '../../../src/testing';
import type { Protocol, SimulatedProviders, SimulatedRequest } from '../../../src/testing';
import { SDK_CLIENTS } from '../sdk-clients';

let providers: SimulatedProviders;
beforeEach(async () => {
  providers = await startSimulatedProviders();
});
afterEach(() => providers.close());

test.each(['openai-chat', 'openai-responses', 'anthropic', 'google'] as const)(
  '%s: a prompt decoded',
  async (protocol) => {
    const seen: SimulatedRequest[] = [];
    providers.answer('model', (request) => {
      seen.push(request);
      return 'Because.';
    });
    await SDK_CLIENTS[protocol](providers.url);
    expect(seen).toEqual([
      {
        sequence: 1,
        protocol,
        callId: null,
        model: 'model',
        messages: [
          { role: 'system', text: 'Be brief.' },
          { role: 'user', text: 'Why?' },
        ],
        text: 'Be brief.\n\nWhy?',
        maxOutputTokens: 100,
      },
    ]);
  },
);

const PATHS: Readonly<Record<Protocol, string>> = {
  'openai-chat': '/v1/chat/completions',
  'openai-responses': '/v1/responses',
  anthropic: '/v1/messages',
  google: '/v1beta/models/model:generateContent',
};

async function post(path: string, body: string): Promise<[number, string]> {
  const response = await fetch(providers.url + path, { method: 'POST', body });
  return [response.status, await response.text()];
}

test.each([
  ['openai-chat', '"type":"invalid_request_error"'],
  ['openai-responses', '"type":"invalid_request_error"'],
  ['anthropic', '"type":"invalid_request_error"'],
  ['google', '"status":"INVALID_ARGUMENT"'],
] as const)('%s: what is no request gets a 400 in the vendor’s words', async (protocol, mark) => {
  for (const body of ['{', '{}', '[]', '']) {
    const [status, text] = await post(PATHS[protocol], body);
    expect(status).toBe(400);
    expect(text).toContain(mark);
  }
  expect(providers.log).toHaveLength(4);
  expect(providers.log[0]).toMatchObject({ model: null, outcome: 'rejected', usage: null, protocol });
});

test('a missing limit is named, as Anthropic demands one', async () => {
  const body = JSON.stringify({ model: 'model', messages: [{ role: 'user', content: 'Why?' }] });
  expect(await post(PATHS.anthropic, body)).toEqual([400, expect.stringContaining('max_tokens')]);
});

test('streaming is declined', async () => {
  const messages = [{ role: 'user', content: 'Why?' }];
  const contents = [{ parts: [{ text: 'Why?' }] }];
  const asked: [string, object][] = [
    [PATHS['openai-chat'], { model: 'model', messages, stream: true }],
    [PATHS['openai-responses'], { model: 'model', input: 'Why?', stream: true }],
    [PATHS.anthropic, { model: 'model', max_tokens: 1, messages, stream: true }],
    ['/v1beta/models/model:streamGenerateContent?alt=sse', { contents }],
  ];
  for (const [path, body] of asked) {
    const reply = await post(path, JSON.stringify(body));
    expect(reply).toEqual([400, expect.stringContaining('Streaming is not simulated')]);
  }
});

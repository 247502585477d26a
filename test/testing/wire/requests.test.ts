import type { Protocol, SimulatedRequest } from '../../../src/testing';
import { SDK_CLIENTS } from '../sdk-clients';
import { post as postTo, PROTOCOLS, useProviders } from '../use-providers';

const providers = useProviders();

test.each(PROTOCOLS)('%s: a prompt is decoded', async (protocol) => {
  const seen: SimulatedRequest[] = [];
  providers.answer('model', (request) => {
    seen.push(request);
    return 'Because.';
  });
  await SDK_CLIENTS[protocol](providers.url);
  const messages = [
    { role: 'system', text: 'Be brief.' },
    { role: 'user', text: 'Why?' },
  ];
  const prompt = { model: 'model', messages, text: 'Be brief.\n\nWhy?', maxOutputTokens: 100 };
  expect(seen).toEqual([{ sequence: 1, protocol, callId: null, ...prompt }]);
});

const PATHS: Readonly<Record<Protocol, string>> = {
  'openai-chat': '/v1/chat/completions',
  'openai-responses': '/v1/responses',
  anthropic: '/v1/messages',
  google: '/v1beta/models/model:generateContent',
};

async function post(path: string, body: string): Promise<[number, string]> {
  const response = await postTo(providers, path, body);
  return [response.status, await response.text()];
}

test.each(PROTOCOLS)('%s: an invalid request gets a 400 in the vendor’s words', async (protocol) => {
  const mark = protocol === 'google' ? '"status":"INVALID_ARGUMENT"' : '"type":"invalid_request_error"';
  for (const body of ['{', '{}', '[]', '']) {
    const [status, text] = await post(PATHS[protocol], body);
    expect(status).toBe(400);
    expect(text).toContain(mark);
  }
  expect(providers.log).toHaveLength(4);
  expect(providers.log[0]).toMatchObject({ model: null, outcome: 'rejected', usage: null, protocol });
});

test('a missing token limit, which Anthropic requires, is named', async () => {
  const body = JSON.stringify({ model: 'model', messages: [{ role: 'user', content: 'Why?' }] });
  expect(await post(PATHS.anthropic, body)).toEqual([400, expect.stringContaining('max_tokens')]);
});

test('a background stream is refused', async () => {
  const body = { model: 'model', input: 'Why?', background: true, stream: true };
  const reply = await post(PATHS['openai-responses'], JSON.stringify(body));
  expect(reply).toEqual([400, expect.stringContaining('A stream in the background is not simulated.')]);
});

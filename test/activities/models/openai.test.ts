import { backgroundOpenAI, completeOpenAI } from '../../../src/activities/models/openai';
import { FAILURES } from '../../../src/protocol/failures';
import { aCard, aRequest, failureOf } from './ask';

afterEach(() => {
  jest.restoreAllMocks();
  delete process.env.OPENAI_BASE_URL;
});

/** Answers every request with `body`, and returns the list of requests sent. */
function answerWith(body: object) {
  const sent: { url: string; body: Record<string, unknown> }[] = [];
  jest.spyOn(globalThis, 'fetch').mockImplementation((url, init) => {
    const text = typeof init?.body === 'string' ? init.body : '';
    sent.push({
      url: url instanceof Request ? url.url : url.toString(),
      body: JSON.parse(text) as Record<string, unknown>,
    });
    return Promise.resolve(Response.json(body));
  });
  return sent;
}

const COMPLETION = {
  choices: [{ message: { role: 'assistant', content: 'Eight.' }, finish_reason: 'stop' }],
};

test("a card without a base URL uses the vendor's own endpoint, whatever the environment says", async () => {
  process.env.OPENAI_BASE_URL = 'http://elsewhere.example/v1';
  const sent = answerWith(COMPLETION);
  await completeOpenAI(aRequest(aCard({ api: 'chat' })));
  expect(sent[0]?.url).toBe('https://api.openai.com/v1/chat/completions');
  expect(sent[0]?.body).toMatchObject({ max_completion_tokens: 256 });
  expect(sent[0]?.body).not.toHaveProperty('max_tokens');
});

test('top-k, which OpenAI itself does not support, is sent only to other servers', async () => {
  const sent = answerWith(COMPLETION);
  const card = aCard({ api: 'chat', topK: 20 });
  expect((await completeOpenAI(aRequest(card))).dropped).toEqual(['topK']);
  await completeOpenAI(aRequest({ ...card, baseUrl: 'http://127.0.0.1:9999/v1' }));
  expect(sent.map(({ body }) => body.top_k)).toEqual([undefined, 20]);
});

test.each([
  ['chat', 'chat', completeOpenAI, COMPLETION],
  ['responses', 'responses', completeOpenAI, { output: [] }],
  ['responses in the background', 'responses', backgroundOpenAI.begin, { id: 'resp_1', status: 'queued' }],
] as const)(
  'through %s, the vendor is asked for its default tier, and other servers for none',
  async (_, api, ask, body) => {
    const sent = answerWith(body);
    await ask(aRequest(aCard({ api })));
    await ask(aRequest(aCard({ api, baseUrl: 'http://127.0.0.1:9999/v1' })));
    expect(sent.map(({ url, body }) => [new URL(url).host, body.service_tier])).toEqual([
      ['api.openai.com', 'default'],
      ['127.0.0.1:9999', undefined],
    ]);
  },
);

test('leaves reasoning out of the text', async () => {
  answerWith({
    output: [
      { type: 'reasoning', summary: [], content: [{ type: 'reasoning_text', text: 'Let me count.' }] },
      { type: 'message', content: [{ type: 'output_text', text: 'Eight.' }] },
    ],
  });
  expect((await completeOpenAI(aRequest(aCard({ api: 'responses' })))).text).toBe('Eight.');
});

test.each([
  ['chat', { error: { code: 502, message: 'Upstream fell over.' } }],
  ['responses', { output: [], error: { code: 'server_error', message: 'Upstream fell over.' } }],
] as const)(
  'an error inside a 200 response of %s is a bad response that gives its reason',
  async (api, body) => {
    answerWith(body);
    const failure = await failureOf(completeOpenAI, aRequest(aCard({ api })));
    expect(failure).toMatchObject({ type: FAILURES.badResponse, billed: 'unknown' });
    expect(failure?.message).toContain('Upstream fell over.');
  },
);

test('JSON of another shape is a bad response that names the missing field', async () => {
  answerWith({ object: 'list' });
  const failure = await failureOf(completeOpenAI, aRequest(aCard({ api: 'chat' })));
  expect(failure?.type).toBe(FAILURES.badResponse);
  expect(failure?.message).toContain('"choices"');
});

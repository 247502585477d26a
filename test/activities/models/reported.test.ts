import { FAILURES } from '../../../src/protocol/failures';
import { useServer } from '../../support/serve';
import { aRequest, DIALECTS, failureOf } from './ask';

// Failures that a server reports under 200: what they say decides, and not the shape in which they come.

const server = useServer();

function send(type: string | null, ...parts: string[]): void {
  server.answer = (response) => {
    response.writeHead(200, type === null ? {} : { 'content-type': type });
    for (const part of parts) response.write(part);
    response.end();
  };
}

const STREAM = 'text/event-stream; charset=utf-8';
const JSON_TYPE = 'application/json';
const TOO_LONG = 'the prompt has 6009 tokens, the context 4096';
const data = (event: object | string): string => `data: ${JSON.stringify(event)}\n\n`;

/** Shapes of one report, streamed and whole. */
const SHAPES: readonly (readonly [shape: string, type: string | null, body: string])[] = [
  [
    'a field "error:"',
    STREAM,
    `error: {"code":400,"message":"${TOO_LONG}","type":"exceed_context_size_error"}\n\n`,
  ],
  ['the same at the end', STREAM, `error: {"code":400,"message":"${TOO_LONG}"}`],
  ['JSON without a field', STREAM, `{"error":{"code":400,"message":"${TOO_LONG}"}}\n`],
  ['JSON over several lines', STREAM, JSON.stringify({ error: { code: 400, message: TOO_LONG } }, null, 2)],
  [
    'an error object',
    STREAM,
    data({ object: 'error', message: TOO_LONG, type: 'BadRequestError', code: 400 }),
  ],
  ['error_type', STREAM, data({ error_type: 'context_length_exceeded', error_message: TOO_LONG })],
  [
    'an event named error',
    STREAM,
    `event: error\n${data({ message: TOO_LONG, code: 'invalid_request_error' })}`,
  ],
  ['a named event as text', STREAM, `event: error\ndata: 400 context size exceeded: ${TOO_LONG}\n\n`],
  ['an error as text', STREAM, data({ error: `context length exceeded: ${TOO_LONG}` })],
  ['an error in a choice', STREAM, data({ choices: [{ error: { code: 400, message: TOO_LONG } }] })],
  ['a list', STREAM, data([{ error: { status: 'INVALID_ARGUMENT', message: TOO_LONG } }])],
  ['a detail', STREAM, data({ detail: `context length exceeded: ${TOO_LONG}` })],
  ['a code and a message', STREAM, data({ code: 'InvalidParameter', message: TOO_LONG })],
  ['a status and a message', STREAM, data({ statusCode: 400, message: TOO_LONG })],
  [
    'a relay of a report',
    STREAM,
    data({ error: { message: JSON.stringify({ error: { code: 400, message: TOO_LONG } }) } }),
  ],
  ['events without a type', null, data({ error: { code: 400, message: TOO_LONG } })],
  ['events as JSON', JSON_TYPE, data({ error: { code: 400, message: TOO_LONG } })],
  ['whole', JSON_TYPE, JSON.stringify({ error: { code: 400, message: TOO_LONG } })],
  ['whole, as text', JSON_TYPE, JSON.stringify({ error: `context length exceeded: ${TOO_LONG}` })],
  ['whole, an error object', JSON_TYPE, JSON.stringify({ object: 'error', message: TOO_LONG, code: 400 })],
  ['text in a stream', STREAM, `context length exceeded: ${TOO_LONG}`],
  ['text', 'text/plain', `context length exceeded: ${TOO_LONG}`],
];

describe.each(DIALECTS)('$name', ({ complete, card }) => {
  test.each(SHAPES)('%s: its sentence, kind and cost', async (_, type, body) => {
    send(type, body);
    const failure = await failureOf(complete, aRequest(card(server.url)));
    expect(failure).toMatchObject({ type: FAILURES.badRequest, retryable: false, billed: 'no' });
    expect(failure?.message).toContain(`${TOO_LONG}. `);
  });

  test.each([
    ['overloaded_error', FAILURES.unavailable, true],
    ['rate_limit_error', FAILURES.rateLimited, true],
    ['insufficient_quota', FAILURES.quotaExceeded, false],
    ['authentication_error', FAILURES.authentication, false],
    ['content_filter', FAILURES.refused, false],
  ])('%s before the first word is what its own status would be', async (code, type, retryable) => {
    const report = { type: 'error', error: { type: code, message: 'busy; please try again in 20s' } };
    for (const [mime, body] of [
      [STREAM, `event: error\n${data(report)}`],
      [JSON_TYPE, JSON.stringify(report)],
    ] as const) {
      send(mime, body);
      expect(await failureOf(complete, aRequest(card(server.url)))).toMatchObject({
        type,
        retryable,
        nextRetryDelayMs: retryable ? 20_000 : null,
      });
    }
  });

  test('a failure of which the server says no cause may have been billed, and gives its sentence', async () => {
    for (const [mime, type] of [
      [STREAM, FAILURES.interrupted],
      [JSON_TYPE, FAILURES.badResponse],
    ] as const) {
      const report = { error: { code: 500, message: 'Upstream fell over.' } };
      send(mime, mime === STREAM ? data(report) : JSON.stringify(report));
      const failure = await failureOf(complete, aRequest(card(server.url)));
      expect(failure).toMatchObject({ type, retryable: false, billed: 'unknown', health: 'unknown' });
      expect(failure?.message).toContain('Upstream fell over. Try again later');
    }
  });
});

const [chat] = DIALECTS;
const word = (content: string): object => ({ choices: [{ index: 0, delta: { content } }] });
const EVENTS = [word('Eight'), word(' legs.'), { choices: [{ delta: {}, finish_reason: 'stop' }] }].map(data);

async function ask() {
  if (chat === undefined) throw new Error('it is the first');
  let heard = '';
  const request = aRequest(chat.card(server.url), { onText: (text) => void (heard += text) });
  return { reply: await chat.complete(request), heard };
}

test.each([null, 'text/plain', JSON_TYPE, 'application/octet-stream'])(
  'a stream under the content type %s is read',
  async (type) => {
    send(type, ...EVENTS, 'data: [DONE]\n\n');
    expect(await ask()).toMatchObject({
      reply: { text: 'Eight legs.', finish: 'stop' },
      heard: 'Eight legs.',
    });
  },
);

test('an answer about errors and billing is an answer', async () => {
  const text = 'error: 429 insufficient_quota\n{"error":"no credit"}\nevent: error';
  send(STREAM, ...[word(text), { choices: [{ delta: {}, finish_reason: 'stop' }], error: null }].map(data));
  expect((await ask()).reply.text).toBe(text);
  send(
    JSON_TYPE,
    JSON.stringify({ choices: [{ message: { content: text }, finish_reason: 'stop' }], error: '', code: 0 }),
  );
  expect((await ask()).reply.text).toBe(text);
});

test('after the first word, or after a thought, an overload may have been billed; a refusal stays one', async () => {
  if (chat === undefined) throw new Error('it is the first');
  const thought = { choices: [{ delta: { reasoning_content: 'Let me' } }] };
  const fail = async (begun: object, type: string) => {
    send(STREAM, data(begun), data({ error: { type, message: 'No.' } }));
    return failureOf(chat.complete, aRequest(chat.card(server.url)));
  };
  for (const begun of [word('Eight'), thought]) {
    expect(await fail(begun, 'overloaded_error')).toMatchObject({
      type: FAILURES.interrupted,
      billed: 'unknown',
    });
    expect(await fail(begun, 'content_filter')).toMatchObject({ type: FAILURES.refused, billed: 'unknown' });
  }
  const opened = { choices: [{ delta: { role: 'assistant', content: '' } }] };
  expect(await fail(opened, 'overloaded_error')).toMatchObject({ type: FAILURES.unavailable, billed: 'no' });
});

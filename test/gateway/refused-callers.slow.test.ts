import type { SolveRequest } from '../../src';
import type { Reply } from '../../src/testing';
import { openGateway } from '../support/gateway';
import { openStage } from '../support/stage';
import { refusalOf } from '../support/until';
import { useOnce } from '../support/use';

/*
 * What no vendor takes of a caller's functions and their results: it costs the caller one sentence, nobody a cent, and
 * nobody else their answer.
 */
let reply: Reply = { text: 'Done.' };
const stage = useOnce(() =>
  openStage({ workers: ['a'], simulation: { models: { a: { answer: () => reply } } } }),
);
const gateway = useOnce(() => openGateway(stage));
beforeEach(() => {
  reply = { text: 'Done.' };
});

type Schema = Readonly<Record<string, unknown>>;
type Tool = NonNullable<SolveRequest['tools']>[number];

const QUESTION = { role: 'user', content: 'Which test fails?' };
const named = (name: string, parameters: Schema) => ({ name, parameters });
const asChat = ({ name, parameters }: Tool) => ({ type: 'function', function: { name, parameters } });

/** How each surface takes functions. */
const SURFACES = {
  '/v1/chat/completions': (tools: readonly Tool[]) => ({ messages: [QUESTION], tools: tools.map(asChat) }),
  '/v1/responses': (tools: readonly Tool[]) => ({
    input: [QUESTION],
    tools: tools.map((tool) => ({ type: 'function', ...tool })),
  }),
  '/v1/messages': (tools: readonly Tool[]) => ({
    max_tokens: 1000,
    messages: [QUESTION],
    tools: tools.map(({ name, parameters }) => ({ name, input_schema: parameters })),
  }),
} as const;

function nested(levels: number): Schema {
  let schema: Schema = { type: 'object' };
  for (let level = 0; level < levels; level += 1) schema = { type: 'object', properties: { a: schema } };
  return schema;
}

const many = Array.from({ length: 200 }, (_, index) => named(`read_${index}`, { type: 'object' }));
const long = { type: 'object', description: 'x'.repeat(1_000_000) };

const BOMBS = {
  '200 functions': [many, 'tools: expected at most 128 functions'],
  'a schema nested 40 objects deep': [[named('deep', nested(40))], 'nested at most 64 deep'],
  'a schema of 1 MB': [[named('long', long)], 'expected a JSON Schema of at most 65536 bytes'],
} as const satisfies Record<string, readonly [readonly Tool[], string]>;

/** What takes long or for ever in a process that looks at it, and what is for the model's vendor to judge. */
const ENDLESS = {
  'a schema that is its own': { type: 'object', properties: { next: { $ref: '#' } }, $ref: '#' },
  'a pattern that backtracks for ever': {
    type: 'object',
    properties: { path: { type: 'string', pattern: '^(a+)+$' } },
  },
} as const satisfies Record<string, Schema>;

const isSentence = expect.stringMatching(/^[^\n]{10,400}$/) as string;

/** Requests to start a workflow: Temporal counts its runs a moment late. */
let starts: readonly jest.SpyInstance[];
beforeAll(() => {
  const { client, nativeConnection } = stage.temporal;
  const services = [client.workflowService, nativeConnection.workflowService];
  starts = services.map((service) => jest.spyOn(service, 'startWorkflowExecution'));
});

const untouched = (): readonly [calls: number, starts: number] => [
  stage.providers.log.length,
  starts.reduce((sum, { mock }) => sum + mock.calls.length, 0),
];

describe.each(Object.entries(SURFACES))('%s', (path, bodyOf) => {
  const ask = (tools: readonly Tool[], more: object = {}) =>
    gateway.ask('POST', path, { model: 'worker/a', ...bodyOf(tools), ...more });

  test.each(Object.entries(BOMBS))('refuses %s', async (_, [tools, message]) => {
    const before = untouched();
    const [refused, other] = await Promise.all([ask(tools), gateway.ask('GET', '/v1/models')]);
    expect(refused).toMatchObject({ status: 400, body: { error: { message: isSentence } } });
    expect(refused.body).toMatchObject({ error: { message: expect.stringContaining(message) as string } });
    expect(other.status).toBe(200);
    expect(untouched()).toEqual(before);
  });

  test('refuses what nests deeper than is ever parsed', async () => {
    const before = untouched();
    expect(await ask([named('deeper', nested(100))])).toMatchObject({
      status: 413,
      body: { error: { message: expect.stringContaining('nested more than 128 deep') as string } },
    });
    expect(untouched()).toEqual(before);
  });

  test.each(Object.entries(ENDLESS))('passes %s on, and answers others meanwhile', async (_, parameters) => {
    reply = { text: '', calls: [{ name: 'look', input: { path: `${'a'.repeat(40)}!` } }] };
    await stage.whileWorking(async () => {
      const [asked, other] = await Promise.all([
        ask([named('look', parameters)]),
        gateway.ask('GET', '/v1/models'),
      ]);
      expect([asked.status, other.status]).toEqual([200, 200]);
      expect(JSON.stringify(asked.body)).toContain('cdr_');
    });
  });
});

describe('a function whose input is to be the answer', () => {
  test.each(Object.entries(ENDLESS))('with %s stops no one', async (_, parameters) => {
    reply = { text: JSON.stringify({ path: `${'a'.repeat(40)}!` }) };
    await stage.whileWorking(async () => {
      const forced = { type: 'function', function: { name: 'look' } };
      const asking = gateway.ask('POST', '/v1/chat/completions', {
        model: 'worker/a',
        ...SURFACES['/v1/chat/completions']([named('look', parameters)]),
        tool_choice: forced,
      });
      const others = await Promise.all(Array.from({ length: 5 }, () => gateway.ask('GET', '/v1/models')));
      expect(others.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
      expect((await asking).body).toMatchObject({ error: { message: isSentence } });
    });
  });
});

describe('a result that is too long', () => {
  async function waitingCall(): Promise<string> {
    reply = { text: '', calls: [{ name: 'look', input: {} }] };
    const tools = [named('look', { type: 'object' })];
    const { body } = await gateway.ask('POST', '/v1/chat/completions', {
      model: 'worker/a',
      ...SURFACES['/v1/chat/completions'](tools),
    });
    return /cdr_[A-Za-z0-9]{20}/.exec(JSON.stringify(body))?.[0] ?? '';
  }

  /** How each surface takes a result. */
  const resultsOf = (id: string, text: string) => ({
    '/v1/chat/completions': { messages: [QUESTION, { role: 'tool', tool_call_id: id, content: text }] },
    '/v1/responses': { input: [QUESTION, { type: 'function_call_output', call_id: id, output: text }] },
    '/v1/messages': {
      max_tokens: 1000,
      messages: [{ role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: text }] }],
    },
  });

  test('is refused, and its run goes on waiting', async () => {
    await stage.whileWorking(async () => {
      const id = await waitingCall();
      const before = untouched();
      for (const [bytes, status, message] of [
        [8 * 1024 * 1024, 413, 'the request is longer than 8388608 bytes: shorten it'],
        [2 * 1024 * 1024, 400, `the result of call "${id}" has 2097152 bytes; at most 1048576 are accepted`],
      ] as const) {
        for (const [path, body] of Object.entries(resultsOf(id, 'x'.repeat(bytes)))) {
          const refused = await gateway.ask('POST', path, { model: 'worker/a', ...body });
          expect([path, refused]).toMatchObject([path, { status, body: { error: { message: isSentence } } }]);
          expect(JSON.stringify(refused.body)).toContain(JSON.stringify(message).slice(1, -1));
        }
      }
      const submitting = stage.client.submit([{ call: id, output: 'x'.repeat(8_000_000) }]);
      expect(await refusalOf(submitting)).toContain('has 8000000 bytes; at most 1048576 are accepted');
      expect(untouched()).toEqual(before);
      reply = { text: 'Test 3.' };
      const [[path, body] = ['', {}]] = Object.entries(resultsOf(id, 'not ok 3'));
      const given = await gateway.ask('POST', path, { model: 'worker/a', ...body });
      expect(given.body).toMatchObject({ choices: [{ message: { content: 'Test 3.' } }] });
    });
  });
});

test.each(Object.entries(BOMBS))(
  'ConductorClient refuses %s before anything starts',
  async (_, [tools, message]) => {
    const before = untouched();
    const starting = stage.client.start({ question: 'Which test fails?', tools });
    expect(await refusalOf(starting)).toContain(message.replace('tools: ', ''));
    expect(untouched()).toEqual(before);
  },
);

import type { ModelReply, ModelRequest } from '../../../src/activities/models/model';
import type { ModelCard } from '../../../src/protocol/cards';
import {
  type CallPart,
  freeTextSchema,
  type Part,
  type ToolUse,
  type Turn,
} from '../../../src/protocol/parts';
import { type Reply, type SimulatedRequest, startSimulatedProviders } from '../../../src/testing';
import { type Listening, serve } from '../../support/serve';
import { useOnce } from '../../support/use';
import { aCard, aRequest, BOTH_WAYS, type Dialect } from './ask';
import { completeOpenAI } from '../../../src/activities/models/openai';
import { judgeReply } from '../../../src/activities/models/failure';

const TOOLS: ToolUse = {
  tools: [
    {
      name: 'look_up',
      description: 'Looks a word up.',
      input: { type: 'object', properties: { word: { type: 'string' } } },
    },
    { name: 'add', description: 'Adds numbers.', input: { type: 'object', properties: {} } },
  ],
  mayCall: true,
  turns: [],
};

const providers = useOnce(() => startSimulatedProviders());

function ask(dialect: Dialect, reply: Reply, toolUse: ToolUse = TOOLS): Promise<ModelReply> {
  providers.script('sim-1', [reply]);
  return dialect.complete(aRequest(dialect.card(providers.url), { toolUse }));
}

function callsIn({ turn = [] }: ModelReply): CallPart[] {
  return turn.filter((part) => part.kind === 'call');
}

/** Answers each call of a turn with its own name. */
function answered(turn: readonly Part[]): Turn[] {
  const calls = turn.filter((part) => part.kind === 'call');
  const results = calls.map(
    ({ id, name }) => ({ kind: 'result', id, name, text: `result of ${name}` }) as const,
  );
  return [
    { role: 'assistant', parts: turn },
    { role: 'user', parts: results },
  ];
}

/** Goes on after a reply, and returns what the vendor received. */
async function goOn(dialect: Dialect, { turn = [] }: ModelReply, before: ToolUse = TOOLS) {
  const seen: SimulatedRequest[] = [];
  providers.answer('sim-1', (request) => {
    seen.push(request);
    return 'Done.';
  });
  const toolUse = { ...before, turns: [...before.turns, ...answered(turn)] };
  const reply = await dialect.complete(aRequest(dialect.card(providers.url), { toolUse }));
  return { reply, toolUse, exchanged: seen[0]?.exchanged ?? [], tools: seen[0]?.tools };
}

const one = { name: 'look_up', input: { word: 'Danube' } };
const other = { name: 'add', input: { numbers: [1, 2] } };

describe.each(BOTH_WAYS)('$name', (dialect) => {
  test('one call goes out and comes back with its result', async () => {
    const reply = await ask(dialect, { text: '', calls: [one] });
    const [call] = callsIn(reply);
    expect(call).toMatchObject({ name: 'look_up', input: '{"word":"Danube"}' });
    const { exchanged, tools } = await goOn(dialect, reply);
    expect(tools).toEqual(['look_up', 'add']);
    expect(exchanged).toMatchObject([
      { kind: 'call', id: call?.id, text: '{"word":"Danube"}' },
      { kind: 'result', id: call?.id, text: 'result of look_up' },
    ]);
  });

  test('a call is demanded in the way of the vendor, and not of a model that thinks by a budget', async () => {
    const seen: SimulatedRequest[] = [];
    providers.answer('sim-1', (request) => {
      seen.push(request);
      return { text: '', calls: [one] };
    });
    const toolUse: ToolUse = { ...TOOLS, mustCall: true };
    const card = dialect.card(providers.url);
    for (const each of [
      card,
      { ...card, thinking: 1024, capabilities: { ...card.capabilities, thinking: true } },
    ])
      await dialect.complete(aRequest(each, { toolUse, maxOutputTokens: 4096 }));
    expect(seen.map(({ mustCall }) => mustCall)).toEqual([
      true,
      card.provider === 'anthropic' ? undefined : true,
    ]);
  });

  test('two parallel calls of one turn, with text before them', async () => {
    const reply = await ask(dialect, { text: 'Let me see. ', calls: [one, { ...one, input: {} }, other] });
    expect(reply.text).toBe('Let me see. ');
    expect(callsIn(reply).map(({ name, input }) => [name, input])).toEqual([
      ['look_up', '{"word":"Danube"}'],
      ['look_up', '{}'],
      ['add', '{"numbers":[1,2]}'],
    ]);
    expect(new Set(callsIn(reply).map(({ id }) => id)).size).toBe(3);
    const { exchanged } = await goOn(dialect, reply);
    expect(exchanged.map(({ kind }) => kind).join(' ')).toBe('call call call result result result');
  });

  test('sequential calls, and thoughts that the vendor signed come back unchanged', async () => {
    const first = await ask(dialect, { text: '', thoughts: 'I need a source.', calls: [one] });
    providers.script('sim-1', [{ text: '', thoughts: 'And a sum.', calls: [other] }]);
    const { reply: second, toolUse } = await goOn(dialect, first);
    expect(callsIn(second)).toMatchObject([{ name: 'add' }]);
    const { reply, exchanged } = await goOn(dialect, second, toolUse);
    expect(reply).toMatchObject({ text: 'Done.', finish: 'stop' });
    expect(reply.turn).toBeUndefined();
    expect(exchanged.map(({ kind }) => kind).join(' ')).toBe('call result call result');
  });

  test('a changed signature is refused by the vendor', async () => {
    const reply = await ask(dialect, { text: '', thoughts: 'I need a source.', calls: [one] });
    const spoil = (part: Part): Part => {
      if (part.kind !== 'opaque') return part;
      const altered = JSON.stringify(part.block).replaceAll('simulated-', 'altered-');
      return { ...part, block: JSON.parse(altered) as Record<string, unknown> };
    };
    const spoilt = (reply.turn ?? []).map(spoil);
    // The Chat API has no signatures: it only misses thoughts that do not come back.
    const isChat = JSON.stringify(spoilt) === JSON.stringify(reply.turn);
    const turn = isChat ? spoilt.filter(({ kind }) => kind !== 'opaque') : spoilt;
    await expect(goOn(dialect, { ...reply, turn })).rejects.toThrow();
  });

  test("another model's blocks are left out", async () => {
    const reply = await ask(dialect, { text: '', calls: [one] });
    const foreign: Part = {
      kind: 'opaque',
      madeBy: 'someone else',
      block: { type: 'thinking', secret: 'x' },
    };
    await goOn(dialect, { ...reply, turn: [foreign, ...(reply.turn ?? [])] });
    expect(providers.log.at(-1)?.body).not.toContain('secret');
  });

  test('without an id, a call is given one, and its result finds it', async () => {
    const reply = await ask(dialect, {
      text: '',
      calls: [
        { ...one, id: null },
        { ...other, id: null },
      ],
    });
    const ids = callsIn(reply).map(({ id }) => id);
    expect(new Set(ids).size).toBe(2);
    expect(ids.every((id) => /^[A-Za-z0-9_-]{1,40}$/.test(id))).toBe(true);
    const { exchanged } = await goOn(dialect, reply);
    expect(exchanged.map(({ kind }) => kind).join(' ')).toBe('call call result result');
  });

  test('an empty list of calls is none, and a tool that nobody offered is a call all the same', async () => {
    expect((await ask(dialect, { text: 'Plain.', calls: [] })).turn).toBeUndefined();
    const reply = await ask(dialect, { text: '', calls: [{ name: 'format_disk', input: {} }] });
    expect(callsIn(reply)).toMatchObject([{ name: 'format_disk', input: '{}' }]);
  });

  test('asked without tools, the model answers: a call counts for nothing', async () => {
    const last = { ...TOOLS, mayCall: false };
    const reply = await ask(dialect, { text: 'So be it.', calls: [one] }, last);
    expect(reply).toMatchObject({ text: 'So be it.' });
    expect(reply.turn).toBeUndefined();
    const { tools } = await goOn(dialect, await ask(dialect, { text: '', calls: [one] }), last);
    expect(tools).toBeUndefined();
  });

  test('arguments that are no JSON reach the workflow as they are, and go back as none', async () => {
    const reply = await ask(dialect, { text: '', calls: [{ ...one, input: '{"word": "Dan' }] });
    // Gemini sends objects alone; this one is a text, as a whole value.
    expect(callsIn(reply)[0]?.input).toContain('Dan');
    const { exchanged } = await goOn(dialect, reply);
    expect(exchanged[0]).toMatchObject({ kind: 'call', text: '{}' });
  });
});

describe('a tool that takes a text', () => {
  const format = { type: 'grammar', syntax: 'lark', definition: 'start: "*** Begin" /.+/' } as const;
  const patch = { name: 'patch', description: 'Applies a patch.', input: freeTextSchema('A patch.'), format };
  const toolUse: ToolUse = { ...TOOLS, tools: [patch] };
  const call = { name: 'patch', input: '*** Begin', takesText: true } as const;
  const responses = (textTools: boolean, stream = true): ModelCard => {
    const { capabilities, ...card } = aCard({ api: 'responses', baseUrl: `${providers.url}/v1` });
    const { idleTimeoutMs, ...whole } = card;
    return {
      ...(stream ? { ...whole, idleTimeoutMs } : whole),
      capabilities: { ...capabilities, textTools },
    };
  };
  const sent = (): unknown => JSON.parse(providers.log.at(-1)?.body ?? '');

  test.each([true, false])(
    'goes to a model that has such tools with its grammar, streamed: %s',
    async (stream) => {
      const card = responses(true, stream);
      providers.script('sim-1', [{ text: '', calls: [call] }, 'Done.']);
      const { turn = [] } = await completeOpenAI(aRequest(card, { toolUse }));
      expect(sent()).toMatchObject({ tools: [{ type: 'custom', name: 'patch', format }] });
      expect(turn).toMatchObject([{ kind: 'call', name: 'patch', input: '{"input":"*** Begin"}' }]);
      await completeOpenAI(aRequest(card, { toolUse: { ...toolUse, turns: answered(turn) } }));
      expect(sent()).toMatchObject({
        input: expect.arrayContaining([
          expect.objectContaining({ type: 'custom_tool_call', name: 'patch', input: '*** Begin' }),
          expect.objectContaining({ type: 'custom_tool_call_output', output: 'result of patch' }),
        ]) as unknown,
      });
    },
  );

  test('is a function to every other', async () => {
    providers.script('sim-1', [{ text: '', calls: [{ ...one, name: 'patch' }] }]);
    await completeOpenAI(aRequest(responses(false), { toolUse }));
    expect(sent()).toMatchObject({ tools: [{ type: 'function', name: 'patch', parameters: patch.input }] });
  });

  test('is not called with a text that was cut off', async () => {
    providers.script('sim-1', [{ text: '', calls: [call], finish: 'length' }]);
    const request = aRequest(responses(true), { toolUse });
    expect(judgeReply(await completeOpenAI(request), request)).toMatchObject({ kind: 'failed' });
  });
});

/** Calls as compatible servers send them: [what, the message or the deltas of a stream, the calls as they are read]. */
const COMPATIBLE: readonly (readonly [string, object, readonly object[], readonly [string, string][]])[] = [
  [
    'Ollama: no index, whole calls, finish stop',
    { finish_reason: 'stop' },
    [
      { tool_calls: [{ id: 'call_1', function: { name: 'a', arguments: '{"n":1}' } }] },
      { tool_calls: [{ id: 'call_2', function: { name: 'b', arguments: '{}' } }] },
    ],
    [
      ['a', '{"n":1}'],
      ['b', '{}'],
    ],
  ],
  [
    'Ollama: index always 0',
    { finish_reason: 'tool_calls' },
    [
      { tool_calls: [{ index: 0, id: 'x', function: { name: 'a', arguments: '{"n":1}' } }] },
      { tool_calls: [{ index: 0, id: 'y', function: { name: 'a', arguments: '{"n":2}' } }] },
    ],
    [
      ['a', '{"n":1}'],
      ['a', '{"n":2}'],
    ],
  ],
  [
    'arguments as an object, without an id',
    { finish_reason: 'tool_calls' },
    [{ tool_calls: [{ index: 0, function: { name: 'a', arguments: { n: 1 } } }] }],
    [['a', '{"n":1}']],
  ],
  [
    'id and name repeated, or empty, in each piece',
    { finish_reason: 'tool_calls' },
    [
      { tool_calls: [{ index: 0, id: 'x', function: { name: 'a', arguments: '{"n"' } }] },
      { tool_calls: [{ index: 0, id: 'x', function: { name: 'a', arguments: ':1' } }] },
      { tool_calls: [{ index: 0, id: '', function: { name: '', arguments: '}' } }] },
    ],
    [['a', '{"n":1}']],
  ],
  ['null for none', { finish_reason: 'stop' }, [{ content: 'Plain.', tool_calls: null }], []],
];

describe('a compatible server', () => {
  let body = '';
  let type = '';
  let server: Listening;
  beforeAll(async () => {
    server = await serve((request, response) => {
      request.resume();
      response.writeHead(200, { 'content-type': type }).end(body);
    });
  });
  afterAll(() => server.close());

  const send = (changes: Partial<ModelRequest> = {}): Promise<ModelReply> => {
    const card = aCard({ api: 'chat', baseUrl: `${server.url}/v1` });
    return completeOpenAI(aRequest(card, { toolUse: TOOLS, ...changes }));
  };

  test.each(COMPATIBLE)('%s', async (_, end, deltas, expected) => {
    const usage = { prompt_tokens: 10, completion_tokens: 5 };
    const events = [
      ...deltas.map((delta) => ({ choices: [{ delta }] })),
      { choices: [{ delta: {}, ...end }], usage },
    ];
    type = 'text/event-stream';
    body = [...events.map((event) => JSON.stringify(event)), '[DONE]']
      .map((data) => `data: ${data}\n\n`)
      .join('');
    const streamed = await send();
    expect(callsIn(streamed).map(({ name, input }) => [name, input])).toEqual(expected);
    expect(callsIn(streamed).every(({ id }) => id !== '')).toBe(true);
  });

  test('a call that a length stop cut is no answer, and a whole one is', async () => {
    type = 'application/json';
    const judged = async (written: string) => {
      const message = {
        content: null,
        tool_calls: [{ id: 'x', function: { name: 'a', arguments: written } }],
      };
      const usage = { prompt_tokens: 10, completion_tokens: 5 };
      body = JSON.stringify({ choices: [{ message, finish_reason: 'length' }], usage });
      return judgeReply(await send(), aRequest(aCard({}))).kind;
    };
    expect(await judged('{"n": 1')).toBe('failed');
    expect(await judged('{"n": 1}')).toBe('answered');
  });

  test.each([
    ['more calls than a run could hold', 65, 'a', /asked for 65 calls of tools at once/],
    ['an endless name', 1, 'a'.repeat(300), /a tool by a name or id of over 256 characters/],
  ])('a turn with %s is no answer', async (_, count, name, problem) => {
    type = 'application/json';
    const calls = Array.from({ length: count }, (__, index) => ({
      id: `c${index}`,
      function: { name, arguments: '{}' },
    }));
    const usage = { prompt_tokens: 10, completion_tokens: 5 };
    body = JSON.stringify({
      choices: [{ message: { content: null, tool_calls: calls }, finish_reason: 'tool_calls' }],
      usage,
    });
    const judged = judgeReply(await send(), aRequest(aCard({})));
    expect(judged).toMatchObject({ kind: 'failed', failure: { type: 'Provider.BadResponse' } });
    expect(JSON.stringify(judged)).toMatch(problem);
  });
});

import { readRunNow } from '../../src/client';
import { type GatewayAnswer, openGateway } from '../support/gateway';
import { openStage } from '../support/stage';
import { useOnce } from '../support/use';

/*
 * What clients send besides a plain question, asked of all three surfaces: each forgives and refuses as the others do.
 */
const ANSWER = 'Rome is the city.';
const CITY = '{"city":"Rome"}';

const stage = useOnce(() =>
  openStage({
    workers: ['a'],
    simulation: { models: { a: { answer: ({ text }) => (text.includes('"city"') ? CITY : ANSWER) } } },
  }),
);
const gateway = useOnce(() => openGateway(stage));

const QUESTION = 'Which city?';
const USER = { role: 'user', content: QUESTION };
const SCHEMA = {
  type: 'object',
  properties: { city: { type: 'string' } },
  required: ['city'],
  additionalProperties: false,
};

type Message = Readonly<Record<string, unknown>>;

interface Surface {
  readonly path: string;
  readonly bodyOf: (messages: readonly Message[]) => Readonly<Record<string, unknown>>;
  readonly textOf: (answer: never) => string;
}

const SURFACES = {
  chat: {
    path: '/v1/chat/completions',
    bodyOf: (messages) => ({ messages }),
    textOf: ({ choices }: { choices: [{ message: { content: string } }] }) => choices[0].message.content,
  },
  responses: {
    path: '/v1/responses',
    bodyOf: (input) => ({ input }),
    textOf: ({ output }: { output: [{ content: [{ text: string }] }] }) => output[0].content[0].text,
  },
  messages: {
    path: '/v1/messages',
    bodyOf: (messages) => ({ messages, max_tokens: 100 }),
    textOf: ({ content }: { content: [{ text: string }] }) => content[0].text,
  },
} satisfies Readonly<Record<string, Surface>>;
const EACH: readonly (readonly [string, Surface])[] = Object.entries(SURFACES);

interface Asked {
  readonly messages?: readonly Message[];
  readonly fields?: object;
  readonly ignore?: string;
}

function ask(
  surface: Surface,
  { messages = [USER], fields = {}, ignore = '' }: Asked,
): Promise<GatewayAnswer> {
  const body = { model: 'worker/a', ...surface.bodyOf(messages), ...fields };
  const headers = { 'x-conductor-ignore': ignore };
  return gateway.ask('POST', surface.path, body, { headers });
}

let asked = 0;

/** Asks every surface at once, and returns what each answered, with what its worker was sent. */
function askEach({ messages = [USER], ...more }: Asked) {
  const asking = EACH.map(async ([name, surface]) => {
    asked += 1;
    const own = `${QUESTION} (${asked})`;
    const marked = messages.map((each) => (each === USER ? { ...USER, content: own } : each));
    const { body } = await ask(surface, { messages: marked, ...more });
    const sent = stage.requestsTo('a').find((request) => request.body.includes(own))?.body ?? '';
    const { warnings } = (body.conductor ?? { warnings: body }) as { warnings: unknown };
    const text = body.error == null ? surface.textOf(body as never) : '';
    return { name, text, sent, warnings };
  });
  return Promise.all(asking);
}

/** Returns how every surface refused. */
async function refusalsOf(asked: Asked) {
  const answers = await Promise.all(EACH.map(([, surface]) => ask(surface, asked)));
  return answers.map(({ status, body }) => {
    const { message } = (body.error ?? {}) as { message?: string };
    return { status, message };
  });
}

const has = (text: string): string => expect.stringContaining(text) as string;
const hasNot = (text: string): string => expect.not.stringContaining(text) as string;

const answered = (sent: string, warnings: readonly string[] = []) =>
  EACH.map(([name]) => ({ name, text: ANSWER, sent, warnings }));

test('a question may have reminders behind it, and thoughts in the turns before it', async () => {
  const thoughts = [
    { type: 'thinking', thinking: 'SECRET', signature: 'c2ln' },
    { type: 'redacted_thinking', data: 'SECRET' },
    { type: 'reasoning', text: 'SECRET' },
    { type: 'redacted_reasoning', data: 'SECRET' },
  ];
  const before = [
    { role: 'developer', content: 'Be brief.' },
    { role: 'user', content: 'Which river?' },
    { role: 'assistant', content: [...thoughts, { type: 'text', text: 'The Tiber.' }] },
    { role: 'assistant', content: null, refusal: 'I will not say.' },
    { role: 'system', content: 'Be exact.' },
  ];
  const after = [{ role: 'system', content: 'A reminder.' }];
  await stage.whileWorking(async () => {
    const answers = await askEach({ messages: [...before, USER, ...after] });
    expect(answers).toEqual(answered(hasNot('SECRET')));
    for (const { sent } of answers) {
      const order = [
        'Be brief.',
        'Which river?',
        'The Tiber.',
        'I will not say.',
        'Be exact.',
        'A reminder.',
        QUESTION,
      ];
      const places = order.map((text) => sent.indexOf(text));
      expect(places).toEqual(places.toSorted((one, other) => one - other));
      expect(places).not.toContain(-1);
    }
    expect(await refusalsOf({ messages: after })).toEqual(
      EACH.map(() => ({ status: 400, message: has('ends with a turn of role system') })),
    );
    expect(await refusalsOf({ messages: [USER, { role: 'assistant', content: 'It' }, ...after] })).toEqual(
      EACH.map(() => ({ status: 400, message: has('ends with a turn of role assistant') })),
    );
  });
});

test('functions are offered, and left out if the client can do without', async () => {
  const tool = { name: 'search', input_schema: SCHEMA };
  const declared = { type: 'tool_addition', tool };
  await stage.whileWorking(async () => {
    expect(await askEach({ fields: { tools: [tool] } })).toEqual(answered(has('search')));
    const unchosen = { tools: [tool], tool_choice: { type: 'none' } };
    expect(await askEach({ fields: unchosen })).toEqual(answered(hasNot('search')));
    expect(await askEach({ fields: { tools: [tool], tool_choice: 'none' } })).toEqual(
      answered(hasNot('search')),
    );
    const added = [{ role: 'system', content: [declared] }, USER];
    const asked = { messages: added, fields: { tools: [tool] }, ignore: 'tools' };
    expect((await askEach(asked)).map(({ text, warnings }) => [text, warnings])).toEqual(
      EACH.map(([name]) => {
        const place = name === 'responses' ? 'input' : 'messages';
        return [ANSWER, [`${place}[0].content[0] ("tool_addition") is ignored`, 'tools is ignored']];
      }),
    );
  });
  const several = [tool, { ...tool, name: 'read' }];
  await stage.whileWorking(async () => {
    for (const choice of ['required', { type: 'any' }]) {
      const fields = { tools: several, tool_choice: choice };
      expect(await askEach({ fields })).toEqual(answered(has('"tool_choice":"required"')));
    }
  });
  const refused = EACH.map(() => ({ status: 400, message: has('send auto or required, or force one') }));
  const fields = { tools: several, tool_choice: { type: 'allowed_tools' } };
  expect(await refusalsOf({ fields })).toEqual(refused);
});

test('calls and results are read in whatever form a client has them', async () => {
  const used = { type: 'tool_use', id: 'c', name: 'search', input: { word: 'SENT' } };
  const chat = { id: 'c', type: 'function', function: { name: 'search', arguments: '{"word":"SENT"}' } };
  const calls = [
    { role: 'assistant', content: [{ type: 'text', text: 'Let me see.' }, used] },
    { role: 'assistant', content: 'Let me see.', tool_calls: [chat] },
  ];
  const results = [
    { role: 'tool', tool_call_id: 'c', content: 'FOUND' },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c', content: 'FOUND' }] },
  ];
  await stage.whileWorking(async () => {
    for (const call of calls) {
      for (const result of results) {
        for (const { name, text, sent } of await askEach({ messages: [call, result, USER] })) {
          expect([name, text]).toEqual([name, ANSWER]);
          expect(sent).toMatch(/Let me see\..*function search with.*SENT.*FOUND/);
        }
      }
    }
  });
});

test('what a client names by its type is left out', async () => {
  const image = { type: 'image', source: { type: 'url', url: 'https://example.org/a.png' } };
  const messages = [{ role: 'user', content: [{ type: 'text', text: QUESTION }, image] }];
  expect(await refusalsOf({ messages })).toEqual(
    EACH.map(() => ({ status: 400, message: has('name image in the header') })),
  );
  await stage.whileWorking(async () => {
    const answers = await askEach({ messages, ignore: 'image' });
    expect(answers.map(({ text, warnings }) => [text, warnings])).toEqual(
      EACH.map(() => [ANSWER, [has('content[1] ("image") is ignored')]]),
    );
  });
});

test('items of a response about what tools there are follow the header that says tools may be ignored', async () => {
  const types = [
    'additional_tools',
    'tool_search_call',
    'tool_search_output',
    'mcp_list_tools',
    'compaction',
  ];
  const items = types.map((type) => ({ type, tools: [], encrypted_content: 'x' }));
  // Functions that are declared in an item are taken.
  for (const item of items.slice(1)) {
    expect(await ask(SURFACES.responses, { messages: [item, USER] })).toMatchObject({
      status: 400,
      body: { error: { message: has(`name tools or ${item.type} in the header`) } },
    });
  }
  await stage.whileWorking(async () => {
    const { status, body } = await ask(SURFACES.responses, { messages: [...items, USER], ignore: 'tools' });
    const warnings = types.map((type, index) => `input[${index}] ("${type}") is ignored`);
    expect([status, body.conductor]).toMatchObject([200, { warnings }]);
  });
});

const JSON_SCHEMA = { type: 'json_schema', schema: SCHEMA };
const FORMS: Readonly<Record<string, object>> = {
  'OpenAI, chat': { response_format: { type: 'json_schema', json_schema: { name: 'city', schema: SCHEMA } } },
  'OpenAI, responses': { text: { format: { ...JSON_SCHEMA, name: 'city' } } },
  Anthropic: { output_config: { format: JSON_SCHEMA, effort: 'high' } },
  'Anthropic, earlier': { output_format: JSON_SCHEMA },
  'an object with a schema': { response_format: { type: 'json_object', schema: SCHEMA } },
  'an object with a schema under another name': {
    response_format: { type: 'json_object', json_schema: SCHEMA },
  },
  'llama.cpp, in its format': { response_format: JSON_SCHEMA },
  'llama.cpp': { json_schema: SCHEMA },
  vLLM: { structured_outputs: { json: SCHEMA } },
  'vLLM, earlier': { guided_json: SCHEMA },
  Ollama: { format: SCHEMA },
};

test('a schema is enforced wherever a client puts it', async () => {
  await stage.whileWorking(async () => {
    for (const [name, fields] of Object.entries(FORMS)) {
      const answers = await askEach({ fields });
      expect([name, ...answers]).toEqual([
        name,
        ...EACH.map(([surface]) => ({ name: surface, text: CITY, sent: has('city'), warnings: [] })),
      ]);
    }
  });
});

test.each([
  ['a grammar', { grammar: 'root ::= "a"' }, /^grammar is not supported: .*JSON Schema/],
  ['a pattern', { guided_regex: 'a+' }, /^guided_regex is not supported/],
  [
    'a choice',
    { structured_outputs: { choice: ['a', 'b'] } },
    /^structured_outputs\.choice is not supported/,
  ],
  [
    'an unknown format',
    { response_format: { type: 'grammar' } },
    /^response_format\.type is "grammar": expected/,
  ],
  [
    'an unknown format',
    { output_config: { format: { type: 'xml' } } },
    /^output_config\.format\.type is "xml"/,
  ],
  [
    'a format with more than a schema',
    { response_format: { type: 'json_object', grammar: 'root ::= "a"' } },
    /^response_format\.grammar is not known in a format/,
  ],
  [
    'text with a schema',
    { response_format: { type: 'text', schema: SCHEMA } },
    /^response_format\.schema is not known in a format/,
  ],
  [
    'two schemas',
    { output_format: JSON_SCHEMA, json_schema: { type: 'object' } },
    /^output_format and json_schema ask for different answers/,
  ],
])('%s is refused, not dropped', async (_, fields, message) => {
  expect(await refusalsOf({ fields })).toEqual(
    EACH.map(() => ({ status: 400, message: expect.stringMatching(message) as string })),
  );
});

test('a low effort is read wherever a client puts it', async () => {
  const low = [
    { reasoning_effort: 'low' },
    { reasoning: { effort: 'low' } },
    { output_config: { effort: 'low' } },
  ];
  await stage.whileWorking(async () => {
    for (const fields of low) {
      const asking = EACH.map(async ([, surface]) => {
        const { body, headers } = await ask(surface, { fields });
        expect(body.conductor).toMatchObject({ warnings: [] });
        const id = headers.get('x-conductor-solve') ?? '';
        const { input } = await readRunNow(stage.temporal.client, id);
        expect(input.limits).toMatchObject({ steps: 2 });
      });
      await Promise.all(asking);
    }
  });
});

test('a nested field that changes nothing is ignored, and listed', async () => {
  const fields = {
    output_config: { task_budget: 1 },
    text: { verbosity: 'low' },
    reasoning: { summary: 'auto' },
  };
  await stage.whileWorking(async () => {
    for (const { warnings } of await askEach({ fields })) {
      expect(warnings).toEqual(
        expect.arrayContaining(['text.verbosity is ignored', 'output_config.task_budget is ignored']),
      );
    }
  });
});

test('a reference to an item is refused with what to send instead', async () => {
  const messages = [USER, { type: 'item_reference', id: 'msg_1' }, USER];
  expect(await ask(SURFACES.responses, { messages })).toMatchObject({
    status: 400,
    body: { error: { message: has('send the item itself') } },
  });
});

test('a limit of tokens below one is none', async () => {
  await stage.whileWorking(async () => {
    for (const limit of [-1, -2]) {
      const fields = { max_tokens: limit, max_completion_tokens: limit, max_output_tokens: limit };
      for (const { text, sent } of await askEach({ fields })) {
        expect(text).toBe(ANSWER);
        expect(sent).not.toContain(`:${limit}`);
      }
    }
    const fields = { max_tokens: 0 };
    expect((await ask(SURFACES.chat, { fields })).status).toBe(200);
    // Anthropic fills a cache then, and answers nothing.
    expect(await ask(SURFACES.messages, { fields })).toMatchObject({
      status: 400,
      body: { error: { message: has('max_tokens is 0') } },
    });
  });
});

test('the tokens of a conversation are estimated, with the refusals of the question itself', async () => {
  const count = async (body: object): Promise<GatewayAnswer> =>
    gateway.ask('POST', '/v1/messages/count_tokens', { model: 'worker/a', messages: [USER], ...body });
  const tokensOf = async (body: object): Promise<number> => {
    const { status, body: counted } = await count(body);
    expect([status, Object.keys(counted)]).toEqual([200, ['input_tokens']]);
    return counted.input_tokens as number;
  };
  const plain = await tokensOf({});
  expect(plain).toBeGreaterThan(0);
  expect(await tokensOf({ system: 'Be brief.' })).toBe(plain + 3);
  expect(await tokensOf({ output_config: { format: JSON_SCHEMA } })).toBeGreaterThan(plain + 20);
  expect(await tokensOf({ messages: [{ role: 'user', content: 'word '.repeat(3000) }] })).toBe(5000);
  const read = { type: 'tool_use', id: 'one', name: 'read', input: { path: 'a' } };
  const result = { type: 'tool_result', tool_use_id: 'one', content: 'word '.repeat(3000) };
  const messages = [USER, { role: 'assistant', content: [read] }, { role: 'user', content: [result] }, USER];
  expect(await tokensOf({ messages })).toBeGreaterThan(5000);
  expect(await count({ model: 'claude' })).toMatchObject({ status: 404, body: { type: 'error' } });
  expect(await tokensOf({ tools: [{ name: 'search', input_schema: SCHEMA }] })).toBeGreaterThan(plain + 20);
  const bad = { tools: [{ name: 'a search', input_schema: SCHEMA }] };
  expect(await count(bad)).toMatchObject({ status: 400 });
});

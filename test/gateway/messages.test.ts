import Anthropic from '@anthropic-ai/sdk';
import { useGateway } from '../support/gateway';
import { step, useStage } from '../support/stage';

const stage = useStage({
  workers: ['a', 'b'],
  simulation: { models: { a: { answer: 'Many.' }, b: { answer: 'Eight.' } } },
});

const gateway = useGateway(stage);

const ASKED = {
  model: 'conductor',
  max_tokens: 1000,
  system: 'Be brief.',
  messages: [{ role: 'user' as const, content: 'How many legs has a spider?' }],
};

function anthropic(): Anthropic {
  return new Anthropic({ baseURL: gateway.url, apiKey: gateway.secret });
}

test('a message is answered, and cached input is counted apart from other input', async () => {
  stage.plan([step('b', 'Count.')]);
  const client = anthropic();
  await stage.whileWorking(async () => {
    const message = await client.messages.create(ASKED);
    expect(message).toMatchObject({ stop_reason: 'end_turn', content: [{ type: 'text', text: 'Eight.' }] });
    const { usage } = await stage.client.trace(message.id.replace('msg_', ''));
    const { input_tokens, cache_read_input_tokens, cache_creation_input_tokens, output_tokens } =
      message.usage;
    expect([
      input_tokens + (cache_read_input_tokens ?? 0) + (cache_creation_input_tokens ?? 0),
      output_tokens,
    ]).toEqual([usage.inputTokens, usage.outputTokens]);
  });
});

test('a stream can be assembled by the vendor’s client', async () => {
  stage.plan([step('a', 'Look.'), step('b', 'Count.', [0])]);
  const client = anthropic();
  await stage.whileWorking(async () => {
    const message = await client.messages.stream(ASKED).finalMessage();
    expect(message).toMatchObject({ stop_reason: 'end_turn', content: [{ type: 'text', text: 'Eight.' }] });
    expect(message.usage.output_tokens).toBeGreaterThan(0);
  });
});

test('a refusal has the vendor’s format', async () => {
  const client = anthropic();
  const asking = client.messages.create({ ...ASKED, model: 'claude' });
  await expect(asking).rejects.toMatchObject({ status: 404, type: 'not_found_error' });
});

const SCHEMA = {
  type: 'object' as const,
  properties: { legs: { type: 'integer' } },
  required: ['legs'],
  additionalProperties: false,
};
const TOOL = { name: 'json', description: 'Respond with a JSON object.', input_schema: SCHEMA };

test('an answer is parsed by the schema that the vendor’s client sends', async () => {
  stage.providers.answer('b', '{"legs":8}');
  const format = { type: 'json_schema' as const, schema: SCHEMA };
  await stage.whileWorking(async () => {
    const asked = { ...ASKED, model: 'worker/b', output_config: { format } };
    const { parsed_output } = await anthropic().messages.parse(asked);
    expect(parsed_output).toEqual({ legs: 8 });
  });
});

test.each([
  ['named', { type: 'tool', name: 'json', disable_parallel_tool_use: true }],
  ['the only one', { type: 'any' }],
] as const)(
  'a tool that is demanded, %s, is called with the answer, whole and streamed',
  async (_, tool_choice) => {
    stage.providers.answer('b', '{"legs":8}');
    const asked = { ...ASKED, model: 'worker/b', tools: [TOOL], tool_choice };
    const called = {
      stop_reason: 'tool_use',
      content: [
        {
          type: 'tool_use',
          id: expect.stringMatching(/^toolu_/) as string,
          name: 'json',
          input: { legs: 8 },
        },
      ],
    };
    await stage.whileWorking(async () => {
      expect(await anthropic().messages.create(asked)).toMatchObject(called);
      expect(await anthropic().messages.stream(asked).finalMessage()).toMatchObject(called);
    });
    expect(stage.requestsTo('b')[0]?.body).toContain('legs');
  },
);

test('a demanded tool whose input is no object is refused', async () => {
  const list = { ...TOOL, input_schema: { type: 'array' as unknown as 'object' } };
  const asking = anthropic().messages.create({ ...ASKED, tools: [list], tool_choice: { type: 'any' } });
  await expect(asking).rejects.toMatchObject({
    status: 400,
    message: expect.stringContaining('must be an object') as string,
  });
});

test.each(['/', '/api/hello'])('whoever looks at %s whether anybody is there needs no key', async (path) => {
  const { status } = await fetch(gateway.url + path, { method: 'HEAD' });
  expect(status).toBe(200);
});

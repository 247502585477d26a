import { startSimulatedProviders } from '../../../src/testing';
import { useOnce } from '../../support/use';
import { aRequest, DIALECTS } from './ask';

const outputSchema = {
  name: 'plan',
  schema: {
    type: 'object',
    properties: { n: { type: 'integer' } },
    required: ['n'],
    additionalProperties: false,
  },
};

const providers = useOnce(() => startSimulatedProviders());

const SENT: Record<string, { body: object; dropped: string[] }> = {
  'OpenAI Chat Completions': {
    body: {
      ...{ temperature: 0.2, top_p: 0.8, top_k: 20, presence_penalty: 1 },
      seed: 7,
      reasoning_effort: 'low',
      max_tokens: 256,
      response_format: { type: 'json_schema', json_schema: { ...outputSchema, strict: true } },
    },
    dropped: ['thinking'],
  },
  'OpenAI Responses': {
    body: {
      ...{ temperature: 0.2, top_p: 0.8 },
      reasoning: { effort: 'low' },
      max_output_tokens: 256,
      text: { format: { type: 'json_schema', ...outputSchema, strict: true } },
      store: false,
    },
    dropped: ['topK', 'presencePenalty', 'seed', 'thinking'],
  },
  'Anthropic Messages': {
    body: {
      ...{ temperature: 0.2, top_p: 0.8, top_k: 20 },
      thinking: { type: 'disabled' },
      max_tokens: 256,
      output_config: { effort: 'low', format: { type: 'json_schema', schema: outputSchema.schema } },
    },
    dropped: ['presencePenalty', 'seed'],
  },
  'Gemini generateContent': {
    body: {
      generationConfig: {
        ...{ temperature: 0.2, topP: 0.8, topK: 20, presencePenalty: 1 },
        seed: 7,
        maxOutputTokens: 256,
        thinkingConfig: { thinkingLevel: 'LOW' },
        responseMimeType: 'application/json',
        responseJsonSchema: outputSchema.schema,
      },
    },
    dropped: [],
  },
};

const EAGER = { temperature: 0.2, topP: 0.8, topK: 20, presencePenalty: 1, effort: 'low', thinking: 0 };

describe.each(DIALECTS)('$name', ({ name, complete, card }) => {
  test('sends what the model supports, and records what its API lacks', async () => {
    const eager = { ...card(providers.url), ...EAGER };
    const capabilities = { ...eager.capabilities, thinking: eager.api === null };
    // Google takes an effort or a thinking budget, not both.
    if (eager.provider === 'google') Object.assign(eager, { thinking: undefined });
    const reply = await complete(aRequest({ ...eager, capabilities }, { seed: 7, outputSchema }));
    expect(JSON.parse(providers.log.at(-1)?.body ?? '')).toMatchObject(SENT[name]?.body ?? {});
    expect(reply.dropped).toEqual(SENT[name]?.dropped);
  });

  test('omits and records what the model lacks', async () => {
    const plain = await bodyOf({});
    const eager = { ...card(providers.url), ...EAGER };
    const capabilities = { sampling: false, effort: [], jsonSchema: false, maxOutputTokens: null };
    const reply = await complete(aRequest({ ...eager, capabilities }, { seed: 7, outputSchema }));
    const sampling = ['temperature', 'topP', 'topK', 'presencePenalty', 'seed'];
    expect(reply.dropped).toEqual([...sampling, 'effort', 'thinking', 'outputSchema']);
    expect(providers.log.at(-1)?.body).toBe(plain);
  });

  test('omits an effort that is not one of its levels', async () => {
    const reply = await complete(aRequest({ ...card(providers.url), effort: 'heroic' }));
    expect(reply.dropped).toEqual(['effort']);
    expect(providers.log.at(-1)?.body).not.toContain('heroic');
  });

  test('sends fields that no setting covers unchanged', async () => {
    const extraBody = { chat_template_kwargs: { enable_thinking: false } };
    const plain = JSON.parse((await bodyOf({})) ?? '') as object;
    const asked = JSON.parse((await bodyOf({ extraBody })) ?? '') as object;
    expect(asked).toEqual({ ...plain, ...extraBody });
  });

  async function bodyOf(changes: object): Promise<string | undefined> {
    await complete(aRequest({ ...card(providers.url), ...changes }));
    return providers.log.at(-1)?.body;
  }
});

describe.each(DIALECTS.filter(({ card }) => card('').api === null))('a thinking budget: $name', (dialect) => {
  const { complete, card } = dialect;
  const thinking = 2048;
  const ask = (maxOutputTokens: number) => {
    const able = card(providers.url);
    const capabilities = { ...able.capabilities, thinking: true };
    return complete(aRequest({ ...able, capabilities, thinking }, { maxOutputTokens }));
  };

  test('is sent as a number of tokens', async () => {
    expect((await ask(4096)).dropped).toEqual([]);
    expect(providers.log.at(-1)?.body).toMatch(/"thinking(Config)?":{[^}]*2048/);
  });

  test('is omitted if it leaves no room for an answer', async () => {
    expect((await ask(thinking)).dropped).toEqual(['thinking']);
    expect(providers.log.at(-1)?.body).not.toContain('thinking');
  });
});

import { startSimulatedProviders, type SimulatedProviders } from '../../../src/testing';
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

let providers: SimulatedProviders;
beforeAll(async () => {
  providers = await startSimulatedProviders();
});
afterAll(() => providers.close());

const SENT: Record<string, { body: object; dropped: string[] }> = {
  'OpenAI Chat Completions': {
    body: {
      temperature: 0.2,
      seed: 7,
      reasoning_effort: 'low',
      max_tokens: 256,
      response_format: { type: 'json_schema', json_schema: { ...outputSchema, strict: true } },
    },
    dropped: [],
  },
  'OpenAI Responses': {
    body: {
      temperature: 0.2,
      reasoning: { effort: 'low' },
      max_output_tokens: 256,
      text: { format: { type: 'json_schema', ...outputSchema, strict: true } },
      store: false,
    },
    dropped: ['seed'],
  },
  'Anthropic Messages': {
    body: {
      temperature: 0.2,
      max_tokens: 256,
      output_config: { effort: 'low', format: { type: 'json_schema', schema: outputSchema.schema } },
    },
    dropped: ['seed'],
  },
  'Gemini generateContent': {
    body: {
      generationConfig: {
        temperature: 0.2,
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

describe.each(DIALECTS)('$name', ({ name, complete, card }) => {
  test('sends what the model has, and records what its API lacks', async () => {
    const eager = { ...card(providers.url), temperature: 0.2, effort: 'low' };
    const reply = await complete(aRequest(eager, { seed: 7, outputSchema }));
    expect(JSON.parse(providers.log.at(-1)?.body ?? '')).toMatchObject(SENT[name]?.body ?? {});
    expect(reply.dropped).toEqual(SENT[name]?.dropped);
  });

  test('leaves out and records what the model lacks', async () => {
    const plain = await bodyOf({});
    const eager = { ...card(providers.url), temperature: 0.2, effort: 'low' };
    const capabilities = { sampling: false, effort: [], jsonSchema: false, maxOutputTokens: null };
    const reply = await complete(aRequest({ ...eager, capabilities }, { seed: 7, outputSchema }));
    expect(reply.dropped).toEqual(['temperature', 'seed', 'effort', 'outputSchema']);
    expect(providers.log.at(-1)?.body).toBe(plain);
  });

  test('leaves out an effort that is none of its levels', async () => {
    const reply = await complete(aRequest({ ...card(providers.url), effort: 'heroic' }));
    expect(reply.dropped).toEqual(['effort']);
    expect(providers.log.at(-1)?.body).not.toContain('heroic');
  });

  async function bodyOf(changes: object): Promise<string | undefined> {
    await complete(aRequest({ ...card(providers.url), ...changes }));
    return providers.log.at(-1)?.body;
  }
});

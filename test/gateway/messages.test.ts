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

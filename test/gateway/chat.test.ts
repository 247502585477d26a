import OpenAI from 'openai';
import { z } from 'zod';
import { useGateway } from '../support/gateway';
import { step, useStage } from '../support/stage';

const stage = useStage({
  workers: ['a', 'b'],
  simulation: { models: { a: { answer: 'Many.' }, b: { answer: 'Eight.' } } },
});

const gateway = useGateway(stage);

const MESSAGES = [{ role: 'user' as const, content: 'How many legs has a spider?' }];

function openAi(): OpenAI {
  return new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: gateway.secret });
}

test('an answer says what it cost, and which solve found it', async () => {
  stage.plan([step('a', 'Look.'), step('b', 'Count.', [0])]);
  const openai = openAi();
  await stage.whileWorking(async () => {
    const { data, response } = await openai.chat.completions
      .create({ model: 'conductor', messages: MESSAGES })
      .withResponse();
    expect(data.choices).toMatchObject([{ finish_reason: 'stop', message: { content: 'Eight.' } }]);
    const id = response.headers.get('x-conductor-solve') ?? '';
    const trace = await stage.client.trace(id);
    const { usage } = data;
    expect(usage).toMatchObject({ cost: trace.costUsd, prompt_tokens: trace.usage.inputTokens });
    expect(usage?.total_tokens).toBe((usage?.prompt_tokens ?? 0) + (usage?.completion_tokens ?? 0));
    expect(response.headers.get('x-litellm-response-cost')).toBe(String(trace.costUsd));
  });
});

test('a stream brings progress, the answer and its usage', async () => {
  stage.plan([step('a', 'Look.'), step('b', 'Count.', [0])]);
  const openai = openAi();
  await stage.whileWorking(async () => {
    const stream = await openai.chat.completions.create({
      model: 'conductor',
      messages: MESSAGES,
      stream: true,
      stream_options: { include_usage: true },
    });
    let [answer, progress] = ['', ''];
    let usage: OpenAI.CompletionUsage | null | undefined;
    for await (const chunk of stream) {
      answer += chunk.choices[0]?.delta.content ?? '';
      progress +=
        (chunk.choices[0]?.delta as { reasoning_content?: string } | undefined)?.reasoning_content ?? '';
      usage = chunk.usage ?? usage;
    }
    expect(answer).toBe('Eight.');
    expect(progress).toContain('Step 2, b: Count.');
    expect(usage?.total_tokens).toBeGreaterThan(0);
  });
});

test('all fields of an answer are in one case, those of its steps too', async () => {
  stage.plan([step('a', 'Look.'), step('b', 'Count.', [0])]);
  const asked = { model: 'conductor', messages: MESSAGES, conductor: { trace: 'summary' } };
  await stage.whileWorking(async () => {
    const answer: unknown = await openAi().chat.completions.create(asked);
    const [first, last] = z.object({ conductor: noteSchema }).parse(answer).conductor.steps;
    expect(first?.started_at).toEqual(expect.any(String));
    expect(last?.ended_at).toEqual(expect.any(String));
    expect(JSON.stringify(answer).match(/"[a-z]+[A-Z]\w*":/gu)).toBeNull();
  });
});

const noteSchema = z.object({ steps: z.array(z.object({ started_at: z.string(), ended_at: z.string() })) });

test('a function that is demanded is called with the answer, whole and streamed', async () => {
  stage.providers.answer('b', '{"legs":8}');
  const parameters = { type: 'object', properties: { legs: { type: 'integer' } }, required: ['legs'] };
  const named = (name: string) => ({ type: 'function' as const, function: { name, parameters } });
  const asked = { model: 'worker/b', messages: MESSAGES, tools: [named('spider'), named('ant')] };
  const tool_choice = { type: 'function' as const, function: { name: 'spider' } };
  const called = {
    finish_reason: 'tool_calls',
    message: {
      content: null,
      tool_calls: [
        { id: expect.any(String) as string, function: { name: 'spider', arguments: '{"legs":8}' } },
      ],
    },
  };
  const openai = openAi();
  await stage.whileWorking(async () => {
    const whole = await openai.chat.completions.create({ ...asked, tool_choice });
    expect(whole.choices).toMatchObject([called]);
    const stream = openai.chat.completions.stream({ ...asked, tool_choice });
    expect((await stream.finalChatCompletion()).choices).toMatchObject([called]);
    const only = { ...asked, tools: [named('spider')], tool_choice: 'required' as const };
    expect((await openai.chat.completions.create(only)).choices).toMatchObject([called]);
  });
});

test('the thoughts of the model that answers come as reasoning, not as content', async () => {
  stage.plan([step('b', 'Count.')]);
  stage.providers.script('b', ['<think>Six? No.</think>\n\nEight.']);
  await stage.whileWorking(async () => {
    const stream = await openAi().chat.completions.create({
      model: 'conductor',
      messages: MESSAGES,
      stream: true,
    });
    let [answer, reasoning] = ['', ''];
    for await (const { choices } of stream) {
      const delta = choices[0]?.delta as { content?: string; reasoning_content?: string } | undefined;
      answer += delta?.content ?? '';
      reasoning += delta?.reasoning_content ?? '';
    }
    expect(answer).toBe('Eight.');
    expect(reasoning).toContain('Six? No.');
  });
});

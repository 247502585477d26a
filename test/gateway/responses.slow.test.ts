import OpenAI from 'openai';
import { zodTextFormat } from 'openai/helpers/zod';
import type { Response, ResponseStreamEvent } from 'openai/resources/responses/responses';
import { z } from 'zod';
import { openGateway, useGateway } from '../support/gateway';
import { step, useStage } from '../support/stage';

const stage = useStage({
  workers: ['a', 'b'],
  simulation: { models: { a: { answer: 'Many.' }, b: { answer: 'Eight.' } } },
});

const gateway = useGateway(stage);

const ASKED = { model: 'conductor', input: 'How many legs has a spider?' };
const TEXT = 'Eight legs, 🙂 and as many eyes. '.repeat(60);

const clientOf = (apiKey: string, { url } = gateway): OpenAI => new OpenAI({ baseURL: `${url}/v1`, apiKey });

async function openAi(): Promise<OpenAI> {
  return clientOf(await gateway.key());
}

async function take(
  events: AsyncIterable<ResponseStreamEvent>,
  isLast: (event: ResponseStreamEvent) => boolean = () => false,
): Promise<ResponseStreamEvent[]> {
  const taken: ResponseStreamEvent[] = [];
  for await (const event of events) {
    taken.push(event);
    if (isLast(event)) break;
  }
  return taken;
}

const typesOf = (events: readonly ResponseStreamEvent[]): string[] =>
  events
    .map(({ type }) => type.replace('response.', ''))
    .filter((type, index, all) => !type.endsWith('.delta') || all[index - 1] !== type);

/** Scripts a plan whose last step takes long to write its answer. */
function playSlowly(ms = 3000): void {
  stage.plan([step('b', 'Look.'), step('a', 'Answer.', [0])]);
  stage.providers.answer('a', { text: TEXT });
  stage.providers.script('a', [{ fault: 'drip', ms }]);
}

test('a response states its cost, and what was ignored of the request', async () => {
  stage.plan([step('a', 'Look.'), step('b', 'Count.', [0])]);
  const openai = await openAi();
  await stage.whileWorking(async () => {
    const metadata = { ticket: '7' };
    const asked = {
      ...ASKED,
      metadata,
      user: 'me',
      temperature: 0,
      store: false,
      text: { verbosity: 'low' as const },
    };
    const { data, response } = await openai.responses.create(asked).withResponse();
    expect(data).toMatchObject({
      status: 'completed',
      output_text: 'Eight.',
      metadata,
      user: 'me',
      error: null,
    });
    const id = response.headers.get('x-conductor-solve') ?? '';
    const trace = await stage.client.trace(id);
    expect(data.usage).toMatchObject({ cost: trace.costUsd, input_tokens: trace.usage.inputTokens });
    expect(response.headers.get('x-litellm-response-cost')).toBe(String(trace.costUsd));
    const warnings = ['store', 'temperature', 'text.verbosity'].map(
      (name) => expect.stringContaining(name) as string,
    );
    expect(data).toMatchObject({ id: `resp_${id}`, conductor: { id, warnings } });
    const { output_text, ...sent } = data;
    expect(output_text).toBe('Eight.');
    expect(await openai.responses.retrieve(data.id)).toMatchObject(sent);
  });
});

test('instructions reach the worker, and the answer has the requested format', async () => {
  stage.plan([step('b', 'Count.')]);
  stage.providers.answer('b', '{"legs":8}');
  const openai = await openAi();
  await stage.whileWorking(async () => {
    const format = zodTextFormat(z.object({ legs: z.int() }), 'spider');
    const asked = { ...ASKED, instructions: 'Count with care.', text: { format } };
    const parsed = await openai.responses.parse(asked);
    expect(parsed.output_parsed).toEqual({ legs: 8 });
  });
  const [request] = stage.requestsTo('b');
  expect(request?.body).toContain('Count with care.');
  expect(request?.body).toContain('legs');
});

test('a function that is demanded is called with the answer, whole and streamed', async () => {
  const parameters = { type: 'object', properties: { legs: { type: 'integer' } }, required: ['legs'] };
  const tool = { type: 'function' as const, name: 'spider', parameters, strict: false };
  const tool_choice = { type: 'function' as const, name: 'spider' };
  const asked = { ...ASKED, model: 'worker/b', tools: [tool], tool_choice };
  const call = { type: 'function_call', name: 'spider', arguments: '{"legs":8}', status: 'completed' };
  stage.providers.answer('b', '{"legs":8}');
  const openai = await openAi();
  await stage.whileWorking(async () => {
    const whole = await openai.responses.create(asked);
    expect(whole).toMatchObject({ status: 'completed', tool_choice, output: [call] });
    expect(await openai.responses.retrieve(whole.id)).toMatchObject({ output: [call] });
    const stream = openai.responses.stream(asked);
    const events = await take(stream);
    expect(typesOf(events).slice(-5)).toEqual([
      ...['output_item.added', 'function_call_arguments.delta', 'function_call_arguments.done'],
      ...['output_item.done', 'completed'],
    ]);
    const final = await stream.finalResponse();
    expect(final.output.at(-1)).toMatchObject(call);
  });
});

test('a stream brings progress, then the answer, then the whole response', async () => {
  stage.plan([step('a', 'Look.'), step('b', 'Count.', [0])]);
  const openai = await openAi();
  await stage.whileWorking(async () => {
    const stream = openai.responses.stream(ASKED);
    const events = await take(stream);
    expect(typesOf(events)).toEqual([
      ...['created', 'in_progress'],
      ...['output_item.added', 'reasoning_summary_part.added', 'reasoning_summary_text.delta'],
      ...['reasoning_summary_text.done', 'reasoning_summary_part.done', 'output_item.done'],
      ...['output_item.added', 'content_part.added', 'output_text.delta'],
      ...['output_text.done', 'content_part.done', 'output_item.done'],
      'completed',
    ]);
    expect(events.map(({ sequence_number }) => sequence_number)).toEqual(events.map((_, index) => index));
    const final = await stream.finalResponse();
    expect(final).toMatchObject({ status: 'completed', output_text: 'Eight.' });
    const [reasoning] = final.output;
    expect(reasoning).toMatchObject({
      summary: [{ text: expect.stringContaining('Step 2, b: Count.') as string }],
    });
    expect(final.usage?.total_tokens).toBeGreaterThan(0);
  });
});

test('a background response can be retrieved, followed and cancelled', async () => {
  playSlowly(60_000);
  const openai = await openAi();
  await stage.whileWorking(async () => {
    const { id, status } = await openai.responses.create({ ...ASKED, background: true });
    expect(['queued', 'in_progress']).toContain(status);
    await stage.providers.waitForRequest(({ model }) => model === 'a');
    expect(await openai.responses.retrieve(id)).toMatchObject({
      status: 'in_progress',
      background: true,
      output: [],
    });
    const followed = take(await openai.responses.retrieve(id, { stream: true }));
    expect(await openai.responses.cancel(id)).toMatchObject({ status: 'cancelled' });
    expect(await openai.responses.retrieve(id)).toMatchObject({ status: 'cancelled' });
    expect((await followed).at(-1)).toMatchObject({
      type: 'response.failed',
      response: { status: 'cancelled' },
    });
    // The second time, there is nothing left to cancel.
    expect(await openai.responses.cancel(id)).toMatchObject({ status: 'cancelled' });
  });
});

test('a response continues an earlier one, without its instructions, and only for its own key', async () => {
  stage.plan([step('b', 'Count.')]);
  stage.plan([step('b', 'Count.')]);
  const openai = await openAi();
  const stranger = await openAi();
  await stage.whileWorking(async () => {
    const first = await openai.responses.create({ ...ASKED, instructions: 'Be brief.' });
    const before = stage.requestsTo('b').length;
    const next = { model: 'conductor', input: 'And how many eyes?', previous_response_id: first.id };
    const second = await openai.responses.create(next);
    expect(second.previous_response_id).toBe(first.id);
    const body = stage.requestsTo('b')[before]?.body;
    for (const turn of [ASKED.input, 'Eight.', 'And how many eyes?']) expect(body).toContain(turn);
    expect(body).not.toContain('Be brief.');
    const asked = stage.providers.log.length;
    await expect(stranger.responses.create(next)).rejects.toMatchObject({ status: 404 });
    await expect(stranger.responses.retrieve(first.id)).rejects.toMatchObject({ status: 404 });
    await expect(stranger.responses.cancel(first.id)).rejects.toMatchObject({ status: 404 });
    expect(stage.providers.log).toHaveLength(asked);
  });
});

test('an earlier response without an answer cannot be continued', async () => {
  const openai = await openAi();
  playSlowly(60_000);
  await stage.whileWorking(async () => {
    const { id } = await openai.responses.create({ ...ASKED, background: true });
    const next = openai.responses.create({ ...ASKED, previous_response_id: id });
    await expect(next).rejects.toMatchObject({ status: 400, param: 'previous_response_id' });
    await openai.responses.cancel(id);
  });
});

test('an unsupported request is refused before any model is asked', async () => {
  const openai = await openAi();
  const conversation = 'conv_1';
  await expect(openai.responses.create({ ...ASKED, conversation })).rejects.toMatchObject({
    status: 400,
    param: 'conversation',
  });
  const image = { type: 'input_image' as const, image_url: 'http://x/y.png', detail: 'low' as const };
  const input = [{ role: 'user' as const, content: [image] }];
  await expect(openai.responses.create({ ...ASKED, input })).rejects.toMatchObject({
    code: 'unsupported_content',
  });
  await expect(openai.responses.retrieve('resp_none')).rejects.toMatchObject({ status: 404 });
  expect(stage.providers.log).toEqual([]);
});

test('the output of a response can be sent back as input', async () => {
  stage.plan([step('b', 'Count.')]);
  stage.plan([step('b', 'Count.')]);
  const openai = await openAi();
  await stage.whileWorking(async () => {
    const { output } = await openai.responses.stream(ASKED).finalResponse();
    const input = [
      { role: 'user' as const, content: ASKED.input },
      ...output,
      { role: 'user' as const, content: 'Sure?' },
    ];
    const again = await openai.responses.create({ ...ASKED, input: input as OpenAI.Responses.ResponseInput });
    expect(again.output_text).toBe('Eight.');
  });
});

test('a stream resumes at another gateway after the first one was closed, and repeats nothing', async () => {
  playSlowly();
  const key = await gateway.key();
  await stage.whileWorking(async () => {
    const stream = await clientOf(key).responses.create({ ...ASKED, stream: true });
    const before: ResponseStreamEvent[] = [];
    const isWritten = ({ type }: ResponseStreamEvent): boolean => type === 'response.output_text.delta';
    const breaking = async (): Promise<void> => {
      for await (const event of stream) {
        before.push(event);
        if (before.filter(isWritten).length === 1) await gateway.close();
      }
    };
    await breaking();
    const last = before.pop();
    expect(last).toMatchObject({ type: 'error', message: expect.stringContaining('resume with') as string });
    Object.assign(gateway, await openGateway(stage));
    const created = before[0] as { response: Response } | undefined;
    const id = created?.response.id ?? '';
    const openai = clientOf(key);
    const after = before.at(-1)?.sequence_number ?? 0;
    const resumed = await take(await openai.responses.retrieve(id, { stream: true, starting_after: after }));
    const whole = await take(await openai.responses.retrieve(id, { stream: true }));
    expect([...before, ...resumed]).toEqual(whole);
    expect(whole.map(({ sequence_number }) => sequence_number)).toEqual(whole.map((_, index) => index));
    expect(whole.at(-1)).toMatchObject({ type: 'response.completed', response: { status: 'completed' } });
    const deltas = whole.map((event) => (event.type === 'response.output_text.delta' ? event.delta : ''));
    expect(deltas.join('')).toBe(TEXT);
  });
});

test('concurrent readers get the same events, which are read once', async () => {
  stage.plan([step('b', 'Count.')]);
  const release = stage.providers.hold('b');
  const read = jest.spyOn(stage.store, 'read');
  const openai = await openAi();
  await stage.whileWorking(async () => {
    const { id } = await openai.responses.create({ ...ASKED, background: true });
    const streams = await Promise.all(
      Array.from({ length: 10 }, () => openai.responses.retrieve(id, { stream: true })),
    );
    release();
    const [first, ...others] = await Promise.all(streams.map((stream) => take(stream)));
    expect(first?.at(-1)?.type).toBe('response.completed');
    for (const other of others) expect(other).toEqual(first);
    const late = await openai.responses.retrieve(id, { stream: true, starting_after: 1 });
    expect(await take(late)).toEqual(first?.slice(2));
  });
  const entries = read.mock.calls.filter(([key]) => /^gateway\/streams\/.*\/00000000\.json$/.test(key));
  expect(entries).toHaveLength(2);
});

test('an answer that begins anew continues in another item', async () => {
  stage.plan([step('a', 'Count the legs.')]);
  stage.providers.answer('a', { text: TEXT });
  stage.providers.script('a', [{ fault: 'failed-midway' }]);
  const openai = await openAi();
  await stage.whileWorking(async () => {
    const stream = openai.responses.stream(ASKED);
    const events = await take(stream);
    const items = events.flatMap((event) => (event.type === 'response.output_item.done' ? [event.item] : []));
    expect(items.map((item) => [item.type, 'status' in item ? item.status : ''])).toEqual([
      ['reasoning', 'completed'],
      ['message', 'incomplete'],
      ['reasoning', 'completed'],
      ['message', 'completed'],
    ]);
    const final = await stream.finalResponse();
    expect(final.output_text).toBe(TEXT);
    expect(final.output.map(({ id }) => id)).toEqual(items.map(({ id }) => id));
  });
});

test('a failing solve ends its stream with the reason, or is refused', async () => {
  const openai = await openAi();
  await stage.whileWorking(async () => {
    const asked = { ...ASKED, model: 'conductor', conductor: { max_cost_usd: 0 } };
    const events = await take(await openai.responses.create({ ...asked, stream: true }));
    expect(events.at(-1)).toMatchObject({
      type: 'response.failed',
      response: {
        status: 'failed',
        error: { code: 'server_error', message: expect.stringContaining('no answer') as string },
      },
    });
    await expect(openai.responses.create(asked)).rejects.toMatchObject({ status: 402 });
  });
});

test.each([
  ['continue', 'completed', 3000],
  ['cancel', 'cancelled', 60_000],
] as const)(
  'if the client of a stream leaves, the solve is told to %s',
  async (on_disconnect, status, ms) => {
    playSlowly(ms);
    const openai = await openAi();
    await stage.whileWorking(async () => {
      const asked = { ...ASKED, stream: true as const, conductor: { on_disconnect } };
      const stream = await openai.responses.create(asked);
      const [created] = await take(stream, ({ type }) => type === 'response.output_text.delta');
      const id = (created as { response: Response }).response.id.replace('resp_', '');
      expect(await (await stage.client.attach(id)).result()).toMatchObject({ status });
    });
  },
);

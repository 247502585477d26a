import { join } from 'node:path';
import { context, propagation, trace } from '@opentelemetry/api';
import { z } from 'zod';
import { ConductorPlugin, type ConfigInput, defineTool, type ToolRequest } from '../../src';
import { openStage, type Stage, type StageOptions, step } from '../support/stage';
import { findByPrefix } from '../../src/client';
import { withoutWords } from '../../src/telemetry/names';
import { endOf, until } from '../support/until';
import {
  keepSpans,
  type KeptSpan,
  type SdkName,
  SDKS,
  type SpanKeeper,
  spanNamed,
  treeOf,
} from './kept-spans';

const QUESTION = 'Where does the ZEBRA-QUESTION rise?';
const ANSWER = 'In the ZEBRA-ANSWER.';
const USAGE = {
  inputTokens: 100,
  outputTokens: 40,
  cachedInputTokens: 30,
  reasoningTokens: 7,
};

let stage: Stage;
let keeper: SpanKeeper;

async function open(sdk: SdkName, options?: StageOptions): Promise<void> {
  keeper = keepSpans(sdk);
  stage = await openStage(options);
}

afterEach(async () => {
  await keeper.close();
  await stage.close();
});

/** Expects all spans in one trace, and no text of the solve on any of them, the words in its id included. */
function expectOneTrace(spans: readonly KeptSpan[]): void {
  expect(new Set(spans.map(({ traceId }) => traceId)).size).toBe(1);
  expect(JSON.stringify(spans.map(({ name, attributes }) => ({ name, attributes })))).not.toMatch(/zebra/i);
}

describe.each(Object.keys(SDKS) as SdkName[])('with SDK %s', (sdk) => {
  test('a solve is a tree: plan, steps, and a request for each row of the ledger', async () => {
    await open(sdk);
    stage.plan([step('a', 'Find it.'), step('b', 'Say it.', [0])]);
    stage.providers.answer('a', { text: 'ZEBRA-OUTPUT', usage: USAGE });
    stage.providers.answer('b', ANSWER);
    const tracer = trace.getTracer('application');
    const result = await stage.whileWorking(() =>
      tracer.startActiveSpan('caller', async (span) => {
        try {
          return await stage.client.solve({ question: QUESTION });
        } finally {
          span.end();
        }
      }),
    );
    const spans = keeper.spans();
    expect(treeOf(spans)).toEqual([
      'caller',
      '  invoke_workflow conductor',
      '    plan conductor',
      '      chat conductor',
      '    invoke_agent a',
      '      chat a',
      '    invoke_agent b',
      '      chat b',
    ]);
    expectOneTrace(spans);
    const rows = await stage.rows(result.id);
    expect(spans.filter(({ name }) => name.startsWith('chat '))).toHaveLength(rows.length);
    const [whole, agent, chat] = ['invoke_workflow conductor', 'invoke_agent a', 'chat a'].map((name) =>
      spanNamed(name, spans),
    );
    expect(result.id).toContain('zebra-question');
    const id = withoutWords(result.id);
    const place = { 'gen_ai.conversation.id': id, 'conductor.run_id': id };
    await until(
      () => findByPrefix(stage.temporal.client, id, []),
      (found) => found.includes(result.id),
    );
    expect(whole?.attributes).toEqual({
      'gen_ai.operation.name': 'invoke_workflow',
      'gen_ai.agent.name': 'conductor',
      ...place,
      'conductor.status': 'completed',
      'conductor.degraded': false,
      'conductor.cost_usd': result.costUsd,
    });
    const inStep = { ...place, 'conductor.round': 1, 'conductor.step': 1, 'conductor.purpose': 'step' };
    expect(agent?.attributes).toEqual({
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.agent.name': 'a',
      ...inStep,
    });
    const row = rows.find(({ worker }) => worker === 'a');
    const { hostname, port } = new URL(stage.providers.url);
    expect(chat?.attributes).toEqual({
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'openai',
      'gen_ai.request.model': 'a',
      'gen_ai.request.max_tokens': expect.any(Number) as number,
      'gen_ai.request.stream': true,
      'gen_ai.output.type': 'text',
      'gen_ai.response.finish_reasons': ['stop'],
      'gen_ai.usage.input_tokens': 100,
      'gen_ai.usage.output_tokens': 40,
      'gen_ai.usage.cache_read.input_tokens': 30,
      'gen_ai.usage.cache_write.input_tokens': 0,
      'gen_ai.usage.cache_creation.input_tokens': 0,
      'gen_ai.usage.reasoning.output_tokens': 7,
      'server.address': hostname,
      'server.port': Number(port),
      'conductor.attempt': 1,
      'conductor.cost_usd': (row?.nanoUsd ?? 0) / 1e9,
      ...inStep,
    });
  });

  test('each attempt is a request of its own; a reply that is no plan, too', async () => {
    await open(sdk);
    stage.providers.script('conductor', ['no plan at all']);
    stage.plan([step('a', 'Find it.')]);
    stage.providers.script('a', [{ fault: 'rate-limited', retryAfter: { ms: 1, as: 'milliseconds' } }]);
    await stage.solve({ question: QUESTION });
    const spans = keeper.spans();
    expect(treeOf(spans)).toEqual([
      'invoke_workflow conductor',
      '  plan conductor !Plan.Invalid',
      '    chat conductor',
      '  plan conductor',
      '    chat conductor',
      '  invoke_agent a !Provider.RateLimited',
      '    chat a !Provider.RateLimited',
      '  invoke_agent a',
      '    chat a',
    ]);
    expect(spans.flatMap(({ attributes }) => attributes['conductor.attempt'] ?? [])).toEqual([1, 1, 1, 2]);
    expectOneTrace(spans);
  });

  test('the Conductor calls itself: its part hangs in the same trace, with an id of its own', async () => {
    await open(sdk, { config: { recursion: 'worker', limits: { depth: 1 } } });
    stage.plan([step('conductor', 'Weigh it.'), step('b', 'Say it.', [0])]);
    stage.plan([step('c', 'Compare.')]);
    const { id } = await stage.solve({ question: QUESTION });
    const spans = keeper.spans();
    expect(treeOf(spans).filter((line) => line.startsWith('  ') && !line.startsWith('   '))).toEqual([
      '  plan conductor',
      '  plan conductor',
      '  invoke_agent c',
      '  invoke_agent b',
    ]);
    const named = withoutWords(id);
    expect(spans.map(({ attributes }) => attributes['gen_ai.conversation.id'])).toEqual(
      spans.map(() => named),
    );
    const part = spanNamed('invoke_agent c', spans);
    expect(part?.attributes['conductor.run_id']).toBe(`${named}-r0s1`);
    expectOneTrace(spans);
  });

  test('workers on queues of their providers are in the same trace', async () => {
    const configure = (config: ConfigInput): ConfigInput => ({
      ...config,
      temporal: { ...config.temporal, queuePerProvider: true },
    });
    await open(sdk, { configure });
    stage.plan([step('a', 'Find it.')]);
    await stage.solve({ question: QUESTION });
    expect(treeOf(keeper.spans())).toHaveLength(5);
    expectOneTrace(keeper.spans());
  });

  test('a run that nobody waits for hangs below the span that started it; without one, below a span of its id', async () => {
    await open(sdk);
    const plan = () => {
      stage.plan([step('a', 'Find it.')]);
    };
    plan();
    plan();
    await stage.whileWorking(async () => {
      const tracer = trace.getTracer('application');
      await tracer.startActiveSpan('caller', async (span) => {
        const { id } = await stage.client.start({ question: QUESTION });
        span.end();
        await endOf(stage, id);
      });
      await stage.client.start({ question: QUESTION }, `alone-${stage.taskQueue}`);
      await endOf(stage, `alone-${stage.taskQueue}`);
    });
    const spans = keeper.spans();
    const tree = ['plan conductor', '  chat conductor', 'invoke_agent a', '  chat a'];
    expect(treeOf(spans)).toEqual(['caller', ...tree.map((line) => `  ${line}`), ...tree]);
    const alone = spans.filter(
      ({ attributes }) => attributes['conductor.run_id'] === `alone-${stage.taskQueue}`,
    );
    const tops = alone.filter(({ name }) => !name.startsWith('chat'));
    expect(new Set(tops.map(({ parentId }) => parentId)).size).toBe(1);
    expect(new Set(alone.map(({ traceId }) => traceId)).size).toBe(1);
  });

  test('a streamed solve ends with its stream; a failed one says why', async () => {
    await open(sdk);
    stage.plan([step('a', 'Find it.')]);
    stage.providers.answer('a', { fault: 'refusal' });
    await stage.whileWorking(async () => {
      const kinds: string[] = [];
      for await (const { kind } of stage.client.stream({ question: QUESTION })) kinds.push(kind);
      expect(kinds.at(-1)).toBe('ended');
    });
    const spans = keeper.spans();
    expect(treeOf(spans)).toEqual([
      'invoke_workflow conductor !Solve.NoAnswer',
      '  plan conductor',
      '    chat conductor',
      '  invoke_agent a !Provider.Refused',
      '    chat a !Provider.Refused',
    ]);
    const attributesOf = (name: string) => spanNamed(name, spans)?.attributes;
    expect(attributesOf('invoke_workflow conductor')).toMatchObject({ 'conductor.status': 'failed' });
    expect(attributesOf('chat a')).toMatchObject({ 'gen_ai.response.finish_reasons': ['content_filter'] });
    expectOneTrace(spans);
  });

  test('a cancelled call ends as cancelled', async () => {
    await open(sdk, { config: { temporal: { heartbeat: '1s' } } });
    stage.plan([step('a', 'Slow.')]);
    stage.providers.hold('a');
    await stage.whileWorking(async () => {
      const solved = stage.client.solve({ question: QUESTION }, `cancelled-${stage.taskQueue}`);
      await stage.providers.waitForRequest(({ model }) => model === 'a');
      await stage.client.cancel(`cancelled-${stage.taskQueue}`);
      expect(await solved).toMatchObject({ status: 'cancelled' });
    });
    expect(treeOf(keeper.spans())).toEqual([
      'invoke_workflow conductor !Run.Cancelled',
      '  plan conductor',
      '    chat conductor',
      '  invoke_agent a !Run.Cancelled',
      '    chat a !Run.Cancelled',
    ]);
    expectOneTrace(keeper.spans());
  });

  test('tools of a server, functions of the worker and activities of the user’s are spans beside the turns that ask for them', async () => {
    const shelf = {
      mcp: { command: [process.execPath, join(__dirname, '../support/tools-server.cjs')] },
      allow: ['look_up', 'broken'],
    };
    const room = {
      activity: { type: 'bookRoom' },
      description: 'Books a room.',
      input: { type: 'object' as const },
    };
    await open(sdk, {
      configure: (config) => ({
        ...config,
        tools: { shelf, room },
        workers: withTools(config, ['shelf']),
      }),
    });
    const add = defineTool({
      description: 'Adds.',
      input: z.object({ a: z.number(), b: z.number() }),
      run: ({ a, b }) => {
        trace.getTracer('application').startSpan('sum').end();
        return String(a + b);
      },
    });
    const plugin = new ConductorPlugin({
      config: { ...stage.config, workers: withTools(stage.config, ['shelf', 'room', 'add']) },
      store: stage.store,
      tools: { add },
    });
    const bookRoom = (request: ToolRequest): Promise<string> => {
      const parent = propagation.extract(context.active(), request);
      trace.getTracer('application').startSpan('book a room', {}, parent).end();
      return Promise.resolve('booked');
    };
    stage.plan([step('a', 'Find it.')]);
    stage.providers.script('a', [
      {
        text: '',
        calls: [
          { name: 'add', input: { a: 1, b: 2 } },
          { name: 'room', input: {} },
          { name: 'shelf__look_up', input: { word: 'ZEBRA-WORD' } },
          { name: 'shelf__broken', input: {} },
        ],
      },
      ANSWER,
    ]);
    const options = { plugins: [plugin], activities: { bookRoom } };
    await stage.whileWorking(() => stage.client.solve({ question: QUESTION }), options);
    const tree = treeOf(keeper.spans());
    expect(tree.slice(3)).toEqual([
      '  invoke_agent a',
      '    chat a',
      '  execute_tool add',
      '    sum',
      '  book a room',
      '  execute_tool shelf__look_up',
      '  execute_tool shelf__broken !Tool.Failed',
      '  invoke_agent a',
      '    chat a',
    ]);
    expectOneTrace(keeper.spans());
  });
});

describe('texts', () => {
  test('are on requests if the configuration says so', async () => {
    await open('2.x', { config: { telemetry: { content: 'spans' } } });
    stage.plan([step('a', 'Find it.')]);
    stage.providers.answer('a', ANSWER);
    await stage.solve({ question: QUESTION });
    const attributes = spanNamed('chat a', keeper.spans())?.attributes ?? {};
    const messages = z.array(
      z.object({ role: z.string(), parts: z.array(z.object({ type: z.string(), content: z.string() })) }),
    );
    const asked = messages.parse(JSON.parse(String(attributes['gen_ai.input.messages'])));
    expect(asked.at(-1)).toMatchObject({ role: 'user', parts: [{ type: 'text' }] });
    expect(asked.at(-1)?.parts[0]?.content).toContain(QUESTION);
    expect(JSON.parse(String(attributes['gen_ai.output.messages']))).toEqual([
      { role: 'assistant', parts: [{ type: 'text', content: ANSWER }], finish_reason: 'stop' },
    ]);
  });

  test('of 400 KB do not make a span of 400 KB', async () => {
    await open('2.x', { config: { telemetry: { content: 'spans' } } });
    stage.plan([step('a', 'Find it.')]);
    stage.providers.answer('a', 'x'.repeat(400_000));
    await stage.solve({ question: `${QUESTION} ${'y'.repeat(400_000)}` });
    const lengths = keeper.spans().flatMap(({ attributes }) => Object.values(attributes).map(lengthOf));
    expect(Math.max(...lengths)).toBeLessThan(110_000);
  });
});

/** Gives all workers tools. */
function withTools({ workers }: Pick<ConfigInput, 'workers'>, tools: string[]): ConfigInput['workers'] {
  return workers.map((worker) => ({ ...worker, tools }) as typeof worker);
}

function lengthOf(value: unknown): number {
  return typeof value === 'string' ? value.length : 0;
}

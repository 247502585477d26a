import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Worker } from '@temporalio/worker';
import type { LiveEvent } from '../../src';
import type { ToolRequest } from '../../src/protocol/tool-use';
import { testTaskQueue } from '../support/temporal';
import { until } from '../support/until';
import { call, SECRET, SERVER, TOOLS, useToolShelf } from './tool-shelf';
import { STAGE_KEY } from './stage';

const question = 'Where does the Danube rise?';

const shelf = useToolShelf();
const { open, play, called, told, seen } = shelf;

test('a limit that pays for an answer, and not for all turns that there may be, does not end a run before it begins', async () => {
  await open();
  play(call('look_up', { word: 'The Danube' }), 'At Donaueschingen.');
  const result = await shelf.stage.solve({ question, limits: { costUsd: 1 } });
  expect(result).toMatchObject({ status: 'completed', answer: 'At Donaueschingen.', stoppedBy: null });
  expect(result.estimate?.nanoUsd).toBeGreaterThan(1e9);
  expect(called()).toHaveLength(1);
});

const timeOf = (time: string | null | undefined): number => Date.parse(time ?? '');

async function toolEventsOf(id: string): Promise<LiveEvent[]> {
  const events: LiveEvent[] = [];
  for await (const event of shelf.stage.client.stream(id))
    if (event.kind.startsWith('tool')) events.push(event);
  return events;
}

test('a worker looks something up, and its answer is the run’s; the trace and the history tell it alike', async () => {
  await open();
  play(call('look_up', { word: 'The Danube' }), 'At Donaueschingen.');
  const result = await shelf.stage.solve({ question }, 'tools-looked-up');
  expect(result).toMatchObject({ status: 'completed', answer: 'At Donaueschingen.', degraded: false });
  expect(called()).toEqual(['look_up {"word":"The Danube"}']);
  expect(told()).toEqual(['The Danube rises at Donaueschingen.']);
  // The Conductor is told in the operator's words, and each worker of its own tools alone.
  const [planned] = shelf.stage.requestsTo('conductor');
  expect(planned?.body).toContain('0: a; can call: look_up, order, ');
  expect(planned?.body).not.toContain('of a test');
  expect(seen.map(({ tools }) => tools?.length)).toEqual([TOOLS.length + 1, TOOLS.length + 1]);
  const turns = [
    {
      worker: 'a',
      turn: 0,
      calls: [
        {
          name: 'shelf__look_up',
          arguments: '{"word":"The Danube"}',
          output: 'The Danube rises at Donaueschingen.',
          outcome: 'ok',
        },
      ],
    },
  ];
  expect(result.rounds[0]?.steps[0]?.turns).toMatchObject(turns);
  // The step has lasted since its first turn.
  const { startedAt, turns: [turn] = [] } = result.rounds[0]?.steps[0] ?? {};
  expect(timeOf(startedAt)).toBeLessThan(timeOf(turn?.calls[0]?.startedAt));
  expect(result.calls.map(({ purpose }) => purpose)).toEqual(['plan', 'step', 'step']);
  const place = { step: 0, worker: 'a', turn: 0, ordinal: 0, name: 'shelf__look_up' };
  expect(await toolEventsOf('tools-looked-up')).toMatchObject([
    { kind: 'toolCalled', ...place, arguments: '{"word":"The Danube"}' },
    { kind: 'toolEnded', ...place, outcome: 'ok', ms: expect.any(Number) as number },
  ]);
  const rows = await shelf.stage.rows('tools-looked-up');
  expect(rows.map(({ nanoUsd }) => nanoUsd).sort()).toEqual(
    shelf.stage.providers.log.map(({ nanoUsd }) => nanoUsd).sort(),
  );
});

test('results of every kind reach the model: too long, an error, no text, none in time, none at all', async () => {
  await open();
  const names = ['huge', 'broken', 'picture', 'never', 'secret'];
  play(
    ...names.map((name) =>
      name === 'never' ? { text: '', calls: [{ name: 'hasty__never', input: {} }] } : call(name),
    ),
    call('die'),
    call('look_up', { word: 'It' }),
    'So be it.',
  );
  const { answer, status } = await shelf.stage.solve({ question });
  expect({ answer, status }).toEqual({ answer: 'So be it.', status: 'completed' });
  const [huge = '', broken, picture, never, secret, die, after] = told();
  expect(Buffer.byteLength(huge)).toBeLessThanOrEqual(64 * 1024);
  expect(huge).toMatch(/^é+\n\[cut: the result has 6000000 bytes, and at most 65536 are shown\]$/);
  expect(broken).toContain('the shelf is empty');
  expect(picture).toBe('(image/png of 10 bytes, which cannot be shown)');
  expect(never).toContain('it gave no result within 1 s');
  expect(secret).toBe('The secret begins with to.');
  expect(die).toContain('outcome of this call is unknown');
  // The server is started anew.
  expect(after).toBe('It rises at Donaueschingen.');
});

test('what cannot be called is told to the model, and is not called', async () => {
  await open();
  play(
    {
      text: '',
      calls: [
        { name: 'format_disk', input: {} },
        { name: 'shelf__look_up', input: '{"word": ' },
      ],
    },
    'Never mind.',
  );
  const result = await shelf.stage.solve({ question });
  expect(result.answer).toBe('Never mind.');
  expect(told()[0]).toContain('There is no tool format_disk. You can call: shelf__look_up');
  expect(told()[1]).toContain('not a JSON object');
  expect(called()).toEqual([]);
  expect(result.rounds[0]?.steps[0]?.turns?.[0]?.calls.map(({ outcome }) => outcome)).toEqual([
    'error',
    'error',
  ]);
});

test('the last turn that the limits allow is asked without tools', async () => {
  await open({ limits: { toolTurns: 2 } });
  let word = 0;
  shelf.stage.providers.answer('a', (request) => {
    seen.push(request);
    return request.tools === undefined ? 'At last.' : call('look_up', { word: `w${(word += 1)}` });
  });
  expect((await shelf.stage.solve({ question })).answer).toBe('At last.');
  expect(seen.map(({ tools }) => tools !== undefined)).toEqual([true, true, false]);
  expect(called()).toHaveLength(2);
});

test('Gemini may call tools or is held to a schema, not both: the form of an answer is forced once it must answer', async () => {
  await open({ limits: { toolTurns: 1 } }, ({ id }, baseUrl) => ({
    ...{ id, provider: 'google', model: 'a', baseUrl, apiKeyEnv: STAGE_KEY },
    capabilities: { jsonSchema: true },
  }));
  shelf.stage.providers.answer('a', (request) => {
    seen.push(request);
    return request.tools === undefined ? '{"place":"Donaueschingen"}' : call('look_up', { word: 'It' });
  });
  const answerSchema = { type: 'object', properties: { place: { type: 'string' } }, required: ['place'] };
  const result = await shelf.stage.solve({ question, answerSchema });
  expect(result).toMatchObject({
    status: 'completed',
    degraded: false,
    answer: '{"place":"Donaueschingen"}',
  });
  const forced = shelf.stage
    .requestsTo('a')
    .map(({ body }) => (JSON.parse(body) as { generationConfig: object }).generationConfig)
    .map((settings) => 'responseJsonSchema' in settings);
  expect(forced).toEqual([false, true]);
});

test('calls of a run are counted, and those above its limit are not made', async () => {
  await open({ limits: { toolCalls: 2 } });
  const calls = ['a', 'b', 'c'].map((word) => ({ name: 'shelf__look_up', input: { word } }));
  play({ text: '', calls }, 'Enough.');
  expect((await shelf.stage.solve({ question })).answer).toBe('Enough.');
  expect(called()).toHaveLength(2);
  expect(told()[2]).toContain('this run may make 2 calls of tools');
  expect(seen[1]?.tools).toBeUndefined();
});

test('calls that cannot be made count as well, so that a run ends', async () => {
  await open({ limits: { toolCalls: 2 } });
  const calls = ['a', 'b', 'c'].map((name) => ({ name, input: {} }));
  play({ text: '', calls }, 'Enough.');
  expect((await shelf.stage.solve({ question })).answer).toBe('Enough.');
  expect(seen.map(({ tools }) => tools !== undefined)).toEqual([true, false]);
});

test('a turn after which no other could be paid for is asked without tools', async () => {
  await open({ limits: { calls: 3 } });
  let word = 0;
  shelf.stage.providers.answer('a', (request) => {
    seen.push(request);
    return request.tools === undefined ? 'In time.' : call('look_up', { word: `w${(word += 1)}` });
  });
  const result = await shelf.stage.solve({ question });
  expect(result).toMatchObject({ status: 'completed', answer: 'In time.', stoppedBy: null });
  expect(seen.map(({ tools }) => tools !== undefined)).toEqual([true, false]);
});

test('a model that gets the same result for the same call three times must answer', async () => {
  await open();
  shelf.stage.providers.answer('a', (request) => {
    seen.push(request);
    return request.tools === undefined ? 'Very well.' : call('look_up', { word: 'again' });
  });
  expect((await shelf.stage.solve({ question })).answer).toBe('Very well.');
  expect(called()).toHaveLength(3);
  expect(told().at(-1)).toContain('the same result 3 times');
});

test('a program that was started for its tools ends with the worker', async () => {
  await open();
  play(call('look_up', { word: 'It' }), 'Well.');
  await shelf.stage.solve({ question });
  const ended = `${process.env.TOOLS_LOG ?? ''}.ended`;
  await until(
    () => existsSync(ended),
    (isThere) => isThere,
  );
});

test('secrets of tools are in no history and no store', async () => {
  await open();
  play(call('secret'), 'Told.');
  await shelf.stage.solve({ question }, 'tools-secret');
  const history = await shelf.stage.temporal.client.workflow.getHandle('tools-secret').fetchHistory();
  const payloads = (history.events ?? []).map((event) =>
    JSON.stringify(event, (_, value: unknown) =>
      value instanceof Uint8Array ? Buffer.from(value).toString('latin1') : value,
    ),
  );
  expect(payloads.join('')).not.toContain(SECRET);
  expect(payloads.join('')).not.toContain(SERVER);
  expect(readFileSync(join(shelf.stage.folder, 'store.db')).includes(SECRET)).toBe(false);
});

test('a worker that takes over begins anew, and is told what was called before it', async () => {
  await open();
  shelf.stage.providers.script('a', [call('order', { item: 'a map' }), { fault: 'refusal' }]);
  shelf.stage.providers.answer('b', 'The map is ordered.');
  const result = await shelf.stage.solve({ question });
  expect(result).toMatchObject({ status: 'completed', answer: 'The map is ordered.', degraded: true });
  expect(called()).toEqual(['order {"item":"a map"}']);
  const [asked] = shelf.stage.requestsTo('b');
  expect(asked?.body).toContain('Before you, another member called shelf__order');
  expect(asked?.body).toContain('Ordered: a map.');
  expect(result.rounds[0]?.steps[0]).toMatchObject({ worker: 'b', turns: [{ worker: 'a', turn: 0 }] });
});

test('an activity and a workflow of the user’s are tools, too: what they get, what they return, how they fail', async () => {
  const input = { type: 'object' as const, properties: { item: { type: 'string' } } };
  const place = { taskQueue: testTaskQueue() };
  await open({
    tools: {
      stock: { activity: { type: 'countStock', ...place }, description: 'Counts the stock.', input },
      failing: { activity: { type: 'failAlways', ...place }, description: 'Fails.', input },
    },
  });
  const taken: unknown[] = [];
  const own = await Worker.create({
    connection: shelf.stage.temporal.nativeConnection,
    ...place,
    activities: {
      countStock: (request: ToolRequest) => {
        taken.push([request.tool.name, request.arguments, request.step, request.turn, request.ordinal]);
        return Promise.resolve({ pieces: 7 });
      },
      failAlways: () => {
        taken.push('failed');
        return Promise.reject(new Error('no such shelf'));
      },
    },
  });
  play(
    { text: '', calls: [{ name: 'stock', input: { item: 'nails' } }] },
    { text: '', calls: [{ name: 'failing', input: {} }] },
    'Seven.',
  );
  const result = await own.runUntil(() => shelf.stage.solve({ question }));
  expect(result.answer).toBe('Seven.');
  expect(taken).toEqual([['stock', { item: 'nails' }, 0, 0, 0], 'failed']);
  expect(told()[0]).toBe('{"pieces":7}');
  expect(told()[1]).toBe('The tool failed: no such shelf');
  expect(result.rounds[0]?.steps[0]?.turns?.[1]?.calls[0]).toMatchObject({ outcome: 'error' });
});

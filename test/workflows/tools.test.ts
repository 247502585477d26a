import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ConfigInput, LiveEvent, SolveTrace } from '../../src';
import { DECIDE_CALL_UPDATE, STATE_QUERY } from '../../src/protocol/names';
import type { Reply, SimulatedRequest } from '../../src/testing';
import { Worker } from '@temporalio/worker';
import type { ToolRequest } from '../../src/protocol/tool-use';
import { waitingCalls } from '../../src/trace/waiting-calls';
import { startWorkerProcess } from '../durability/worker-process';
import { openStage, type Stage, STAGE_KEY, step } from './stage';
import { testTaskQueue } from '../support/temporal';
import { endOf, until } from '../support/until';

const question = 'Where does the Danube rise?';
const SERVER = join(__dirname, '../support/tools-server.cjs');
const SECRET = 'tool-secret-9f86d081884c7d65';

const TOOLS = [
  'look_up',
  'order',
  'secret',
  'huge',
  'broken',
  'picture',
  'never',
  'die',
  'pay',
  'read_slowly',
];

type WorkerInput = ConfigInput['workers'][number];
/** Changes the card of the worker with tools, given the providers' URL. */
type Configured = (worker: WorkerInput, url: string) => object;

/** A stage whose worker `a` has the tools of a real server. */
function openTooled(
  changes: Partial<ConfigInput> = {},
  configured: Configured = (worker) => worker,
): Promise<Stage> {
  return openStage({
    simulation: { fallback: { price: { input: 2, output: 10 } } },
    config: {
      ...changes,
      tools: {
        shelf: {
          mcp: { command: [process.execPath, SERVER], env: ['TOOLS_LOG', 'TOOLS_SECRET'] },
          allow: TOOLS,
          repeatable: ['look_up', 'read_slowly'],
          timeout: '30s',
        },
        hasty: { mcp: { command: [process.execPath, SERVER] }, allow: ['never'], timeout: '1s' },
        ...changes.tools,
      },
    },
    configure: (config, url) => ({
      ...config,
      workers: config.workers.map((worker, index) =>
        index === 0
          ? ({
              ...configured(worker, url),
              tools: ['shelf', 'hasty', ...Object.keys(changes.tools ?? {})],
              fallback: ['b'],
            } as WorkerInput)
          : worker,
      ),
    }),
  });
}

let stage: Stage;
const opened: Stage[] = [];
const seen: SimulatedRequest[] = [];

async function open(changes?: Partial<ConfigInput>, configured?: Configured): Promise<void> {
  stage = await openTooled(changes, configured);
  opened.push(stage);
  process.env.TOOLS_LOG = join(stage.folder, 'calls.log');
  process.env.TOOLS_SECRET = SECRET;
  stage.plan([step('a', 'Look it up.')]);
  seen.length = 0;
}
afterEach(() => Promise.all(opened.splice(0).map((each) => each.close())));

/** Makes the worker answer with these replies, one a turn, and notes what it was sent. */
function play(...replies: readonly (Reply | string)[]): void {
  stage.providers.answer('a', (request) => {
    seen.push(request);
    return replies[Math.min(seen.length, replies.length) - 1] ?? '';
  });
}

function called(): string[] {
  try {
    return readFileSync(process.env.TOOLS_LOG ?? '', 'utf8')
      .trim()
      .split('\n');
  } catch {
    return [];
  }
}

test('a limit that pays for an answer, and not for all turns that there may be, does not end a run before it begins', async () => {
  await open();
  play(call('look_up', { word: 'The Danube' }), 'At Donaueschingen.');
  const result = await stage.solve({ question, limits: { costUsd: 1 } });
  expect(result).toMatchObject({ status: 'completed', answer: 'At Donaueschingen.', stoppedBy: null });
  expect(result.estimate?.nanoUsd).toBeGreaterThan(1e9);
  expect(called()).toHaveLength(1);
});

const timeOf = (time: string | null | undefined): number => Date.parse(time ?? '');

async function toolEventsOf(id: string): Promise<LiveEvent[]> {
  const events: LiveEvent[] = [];
  for await (const event of stage.client.stream(id)) if (event.kind.startsWith('tool')) events.push(event);
  return events;
}

const call = (name: string, input: object | string = {}): Reply => ({
  text: '',
  calls: [{ name: `shelf__${name}`, input }],
});
/** What the model was told of its last calls. */
const told = (turn = seen.length - 1): string[] =>
  (seen[turn]?.exchanged ?? []).flatMap(({ kind, text }) => (kind === 'result' ? [text] : []));

test('a worker looks something up, and its answer is the run’s; the trace and the history tell it alike', async () => {
  await open();
  play(call('look_up', { word: 'The Danube' }), 'At Donaueschingen.');
  const result = await stage.solve({ question }, 'tools-looked-up');
  expect(result).toMatchObject({ status: 'completed', answer: 'At Donaueschingen.', degraded: false });
  expect(called()).toEqual(['look_up {"word":"The Danube"}']);
  expect(told()).toEqual(['The Danube rises at Donaueschingen.']);
  // The Conductor is told in the operator's words, and each worker of its own tools alone.
  const [planned] = stage.requestsTo('conductor');
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
  const rows = await stage.rows('tools-looked-up');
  expect(rows.map(({ nanoUsd }) => nanoUsd).sort()).toEqual(
    stage.providers.log.map(({ nanoUsd }) => nanoUsd).sort(),
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
  const { answer, status } = await stage.solve({ question });
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
  const result = await stage.solve({ question });
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
  stage.providers.answer('a', (request) => {
    seen.push(request);
    return request.tools === undefined ? 'At last.' : call('look_up', { word: `w${(word += 1)}` });
  });
  expect((await stage.solve({ question })).answer).toBe('At last.');
  expect(seen.map(({ tools }) => tools !== undefined)).toEqual([true, true, false]);
  expect(called()).toHaveLength(2);
});

test('Gemini may call tools or is held to a schema, not both: the form of an answer is forced once it must answer', async () => {
  await open({ limits: { toolTurns: 1 } }, ({ id }, baseUrl) => ({
    ...{ id, provider: 'google', model: 'a', baseUrl, apiKeyEnv: STAGE_KEY },
    capabilities: { jsonSchema: true },
  }));
  stage.providers.answer('a', (request) => {
    seen.push(request);
    return request.tools === undefined ? '{"place":"Donaueschingen"}' : call('look_up', { word: 'It' });
  });
  const answerSchema = { type: 'object', properties: { place: { type: 'string' } }, required: ['place'] };
  const result = await stage.solve({ question, answerSchema });
  expect(result).toMatchObject({
    status: 'completed',
    degraded: false,
    answer: '{"place":"Donaueschingen"}',
  });
  const forced = stage
    .requestsTo('a')
    .map(({ body }) => (JSON.parse(body) as { generationConfig: object }).generationConfig)
    .map((settings) => 'responseJsonSchema' in settings);
  expect(forced).toEqual([false, true]);
});

test('calls of a run are counted, and those above its limit are not made', async () => {
  await open({ limits: { toolCalls: 2 } });
  const calls = ['a', 'b', 'c'].map((word) => ({ name: 'shelf__look_up', input: { word } }));
  play({ text: '', calls }, 'Enough.');
  expect((await stage.solve({ question })).answer).toBe('Enough.');
  expect(called()).toHaveLength(2);
  expect(told()[2]).toContain('this run may make 2 calls of tools');
  expect(seen[1]?.tools).toBeUndefined();
});

test('calls that cannot be made count as well, so that a run ends', async () => {
  await open({ limits: { toolCalls: 2 } });
  const calls = ['a', 'b', 'c'].map((name) => ({ name, input: {} }));
  play({ text: '', calls }, 'Enough.');
  expect((await stage.solve({ question })).answer).toBe('Enough.');
  expect(seen.map(({ tools }) => tools !== undefined)).toEqual([true, false]);
});

test('a turn after which no other could be paid for is asked without tools', async () => {
  await open({ limits: { calls: 3 } });
  let word = 0;
  stage.providers.answer('a', (request) => {
    seen.push(request);
    return request.tools === undefined ? 'In time.' : call('look_up', { word: `w${(word += 1)}` });
  });
  const result = await stage.solve({ question });
  expect(result).toMatchObject({ status: 'completed', answer: 'In time.', stoppedBy: null });
  expect(seen.map(({ tools }) => tools !== undefined)).toEqual([true, false]);
});

test('a model that gets the same result for the same call three times must answer', async () => {
  await open();
  stage.providers.answer('a', (request) => {
    seen.push(request);
    return request.tools === undefined ? 'Very well.' : call('look_up', { word: 'again' });
  });
  expect((await stage.solve({ question })).answer).toBe('Very well.');
  expect(called()).toHaveLength(3);
  expect(told().at(-1)).toContain('the same result 3 times');
});

test('a server that lists no tools until the time of its run is over ends the run by that limit', async () => {
  const silent = [process.execPath, '-e', 'setTimeout(process.exit, 5000)'];
  await open({
    tools: { silent: { mcp: { command: silent }, allow: ['look'] } },
    limits: { wallClock: '4s' },
  });
  const result = await stage.solve({ question });
  expect(result).toMatchObject({ stoppedBy: 'wallClock', error: { type: 'Limit.WallClock' } });
});

test('a program that was started for its tools ends with the worker', async () => {
  await open();
  play(call('look_up', { word: 'It' }), 'Well.');
  await stage.solve({ question });
  const ended = `${process.env.TOOLS_LOG ?? ''}.ended`;
  await until(
    () => existsSync(ended),
    (isThere) => isThere,
  );
});

test('secrets of tools are in no history and no store', async () => {
  await open();
  play(call('secret'), 'Told.');
  await stage.solve({ question }, 'tools-secret');
  const history = await stage.temporal.client.workflow.getHandle('tools-secret').fetchHistory();
  const payloads = (history.events ?? []).map((event) =>
    JSON.stringify(event, (_, value: unknown) =>
      value instanceof Uint8Array ? Buffer.from(value).toString('latin1') : value,
    ),
  );
  expect(payloads.join('')).not.toContain(SECRET);
  expect(payloads.join('')).not.toContain(SERVER);
  expect(readFileSync(join(stage.folder, 'store.db')).includes(SECRET)).toBe(false);
});

test.each([
  ['pay', 1, /outcome of this call is unknown.*process that waited for it was lost/s],
  ['read_slowly', 2, /^Done: it\.$/],
] as const)('kill -9 of the worker while it waits for the tool %s', async (name, times, expected) => {
  await open();
  play(call(name, { item: 'it' }), 'Told.');
  const { id } = await stage.client.start({ question });
  const worker = await startWorkerProcess(stage);
  await until(called, (lines) => lines.some((line) => line.startsWith(name)));
  // The history tells the call while it runs.
  const [running] = (await stage.client.trace(id)).rounds[0]?.steps[0]?.turns ?? [];
  expect(running).toMatchObject({ worker: 'a', turn: 0, calls: [{ outcome: null, output: null }] });
  expect(running?.calls[0]?.startedAt).toEqual(expect.any(String));
  await worker.kill();
  writeFileSync(`${process.env.TOOLS_LOG ?? ''}.open`, '');
  const result = await stage.whileWorking(() => endOf(stage, id));
  expect(result).toMatchObject({ status: 'completed', answer: 'Told.' });
  expect(called()).toHaveLength(times);
  expect(told()[0]).toMatch(expected);
  // No model turn is bought twice.
  expect(stage.requestsTo('a')).toHaveLength(2);
  expect(await stage.client.trace(id)).toMatchObject({ rounds: result.rounds });
});

test('a worker that takes over begins anew, and is told what was called before it', async () => {
  await open();
  stage.providers.script('a', [call('order', { item: 'a map' }), { fault: 'refusal' }]);
  stage.providers.answer('b', 'The map is ordered.');
  const result = await stage.solve({ question });
  expect(result).toMatchObject({ status: 'completed', answer: 'The map is ordered.', degraded: true });
  expect(called()).toEqual(['order {"item":"a map"}']);
  const [asked] = stage.requestsTo('b');
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
    connection: stage.temporal.nativeConnection,
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
  const result = await own.runUntil(() => stage.solve({ question }));
  expect(result.answer).toBe('Seven.');
  expect(taken).toEqual([['stock', { item: 'nails' }, 0, 0, 0], 'failed']);
  expect(told()[0]).toBe('{"pieces":7}');
  expect(told()[1]).toBe('The tool failed: no such shelf');
  expect(result.rounds[0]?.steps[0]?.turns?.[1]?.calls[0]).toMatchObject({ outcome: 'error' });
});

describe('a tool of which a person decides on each call', () => {
  const asking = {
    shelf: {
      mcp: { command: [process.execPath, SERVER], env: ['TOOLS_LOG', 'TOOLS_SECRET'] },
      allow: TOOLS,
      repeatable: ['look_up'],
      approve: ['order', 'look_up'],
    },
  };
  const order = call('order', { item: 'a map' });

  const callsIn = ({ rounds }: Pick<SolveTrace, 'rounds'>): unknown =>
    rounds[0]?.steps[0]?.turns?.flatMap(({ calls }) =>
      calls.map(({ name, arguments: args, outcome, output, approval }) => ({
        ...{ name, args, outcome, output, decision: approval?.decision },
      })),
    );

  /** Waits until calls wait for a person, and returns their ids. */
  async function waiting(id: string): Promise<string[]> {
    const trace = await until(
      () => stage.client.trace(id),
      ({ waitsFor }) => waitsFor === 'approval',
    );
    return waitingCalls(trace).map((each) => each.id);
  }

  test('waits, tells what waits, and goes on with what was decided; deciding twice alike changes nothing', async () => {
    await open({ tools: asking });
    play(order, 'It is ordered.');
    await stage.whileWorking(async () => {
      const { id } = await stage.client.start({ question });
      expect(await waiting(id)).toEqual(['1.a.1.1']);
      expect(called()).toEqual([]);
      const { rounds } = await stage.client.trace(id);
      expect(waitingCalls({ id, rounds })).toEqual([
        { run: id, id: '1.a.1.1', name: 'shelf__order', arguments: '{"item":"a map"}' },
      ]);
      const decision = { call: '1.a.1.1', approve: true };
      await stage.client.decideCall(id, decision, { name: 'ada' });
      await stage.client.decideCall(id, decision, { name: 'ada' });
      await expect(
        stage.client.decideCall(id, { ...decision, approve: false, reason: 'No.' }),
      ).rejects.toThrow('call 1.a.1.1 was approved already');
      const result = await endOf(stage, id);
      expect(result).toMatchObject({ status: 'completed', answer: 'It is ordered.' });
      expect(result.steered).toMatchObject([{ kind: 'approved', call: '1.a.1.1', by: 'ada' }]);
      expect(result.rounds[0]?.steps[0]?.turns?.[0]?.calls[0]).toMatchObject({
        outcome: 'ok',
        approval: { id: '1.a.1.1', decision: 'approved', by: 'ada' },
      });
    });
    expect(called()).toEqual(['order {"item":"a map"}']);
  });

  test('can be rejected for a reason that the model is told, or called with other arguments', async () => {
    await open({ tools: asking });
    const calls = ['a map', 'a globe'].map((item) => ({ name: 'shelf__order', input: { item } }));
    play({ text: '', calls }, 'One is ordered.');
    await stage.whileWorking(async () => {
      const { id } = await stage.client.start({ question });
      expect(await waiting(id)).toEqual(['1.a.1.1', '1.a.1.2']);
      await stage.client.decideCall(id, { call: '1.a.1.1', approve: false, reason: 'We have one.' });
      expect(await waiting(id)).toEqual(['1.a.1.2']);
      // The history tells what the run itself tells.
      const state = await stage.temporal.client.workflow.getHandle(id).query<SolveTrace>(STATE_QUERY);
      expect(callsIn(await stage.client.trace(id))).toEqual(callsIn(state));
      await stage.client.decideCall(id, {
        call: '1.a.1.2',
        approve: true,
        arguments: { item: 'a small globe' },
      });
      const result = await endOf(stage, id);
      expect(result.rounds[0]?.steps[0]?.turns?.[0]?.calls).toMatchObject([
        { outcome: 'denied', approval: { decision: 'rejected' } },
        { outcome: 'ok', approval: { decision: 'edited' }, arguments: '{"item":"a small globe"}' },
      ]);
    });
    expect(called()).toEqual(['order {"item":"a small globe"}']);
    expect(told()).toEqual([
      'A person rejected this call, and it was not made: We have one.',
      'A person changed the arguments of this call to {"item":"a small globe"}\n\nOrdered: a small globe.',
    ]);
  });

  test('is not called with arguments of a person that do not fit it, whatever client sent them', async () => {
    await open({ tools: asking });
    play(order, 'Nothing is ordered.');
    await stage.whileWorking(async () => {
      const { id } = await stage.client.start({ question });
      const [waits] = await waiting(id);
      const decision = { call: waits, approve: true, arguments: { item: 7 } };
      await stage.temporal.client.workflow
        .getHandle(id)
        .executeUpdate(DECIDE_CALL_UPDATE, { args: [decision] });
      const result = await endOf(stage, id);
      expect(result.rounds[0]?.steps[0]?.turns?.[0]?.calls[0]).toMatchObject({
        outcome: 'error',
        approval: { decision: 'edited' },
      });
    });
    expect(called()).toEqual([]);
    expect(told()).toEqual([
      'A person changed the arguments of this call to {"item":7}\n\n' +
        'The tool was not called: the arguments do not fit the tool shelf__order: /item must be string.',
    ]);
  });

  test('is not called if nobody decides in time, and the run goes on', async () => {
    await open({ tools: asking, limits: { approval: '1s' } });
    play(order, 'Nothing is ordered.');
    const result = await stage.solve({ question });
    expect(result).toMatchObject({ status: 'completed', answer: 'Nothing is ordered.', stoppedBy: null });
    expect(told()).toEqual(['Nobody decided on this call within 1 s, and it was not made.']);
    expect(called()).toEqual([]);
    expect(result.rounds[0]?.steps[0]?.turns?.[0]?.calls[0]).toMatchObject({ outcome: 'expired' });
  });

  test('is not called once the time of its run is over, and the run ends', async () => {
    await open({ tools: asking });
    play(order, 'It is ordered.');
    await stage.whileWorking(async () => {
      const { id } = await stage.client.start({ question });
      const [waits = ''] = await waiting(id);
      await stage.client.setLimits(id, { wallClockMs: 1 });
      await stage.client.decideCall(id, { call: waits, approve: true });
      const result = await endOf(stage, id);
      expect(result).toMatchObject({ stoppedBy: 'wallClock', error: { type: 'Limit.WallClock' } });
      expect(result.rounds[0]?.steps[0]?.turns).toMatchObject([{ calls: [{ outcome: 'error' }] }]);
    });
    expect(called()).toEqual([]);
  });

  test.each([
    [{ call: '1.a.1.1' }, /approve .* is missing/],
    [{ call: '1.a.1.1', approve: false }, /rejected with a reason/],
    [{ call: '1.a.9.9', approve: true }, /no call 1\.a\.9\.9 waits in this run/],
    [
      { call: '1.a.1.1', approve: true, arguments: { item: 7 } },
      /arguments do not fit the tool shelf__order: \/item must be string/,
    ],
  ])('refuses the decision %j', async (decision, refusal) => {
    await open({ tools: asking });
    play(order, 'Done.');
    await stage.whileWorking(async () => {
      const { id } = await stage.client.start({ question });
      await waiting(id);
      await expect(stage.client.decideCall(id, decision as never)).rejects.toThrow(refusal);
      await stage.client.cancel(id);
      await expect(endOf(stage, id)).resolves.toMatchObject({ status: 'cancelled' });
    });
  });
});

test('a server that means harm speaks to no system text, and its failures end with the limits; another run goes on', async () => {
  const hostile = join(__dirname, '../support/hostile-server.cjs');
  const mcp = { command: [process.execPath, hostile, 'plain'] };
  await open({
    tools: { hostile: { mcp, allow: ['poisoned', 'fails', 'endless'], timeout: '10m' } },
    limits: { toolTurns: 4 },
  });
  const asked = (name: string): Reply => ({ text: '', calls: [{ name: `hostile__${name}`, input: {} }] });
  let isPatient = true;
  stage.providers.answer('a', (request) => {
    seen.push(request);
    if (request.tools === undefined) return 'It only fails.';
    return asked(isPatient ? 'endless' : 'fails');
  });
  await stage.whileWorking(async () => {
    const patient = await stage.client.start({ question });
    await until(
      () => stage.client.trace(patient.id),
      ({ rounds }) => rounds[0]?.steps[0]?.turns?.[0]?.calls[0]?.outcome === null,
    );
    isPatient = false;
    stage.plan([step('a', 'Look it up.')]);
    expect(await stage.client.solve({ question })).toMatchObject({
      status: 'completed',
      answer: 'It only fails.',
    });
    await stage.client.cancel(patient.id);
    expect(await endOf(stage, patient.id)).toMatchObject({ status: 'cancelled' });
  });
  expect(seen.map(({ tools }) => tools !== undefined)).toEqual([true, true, true, true, true, false]);
  expect(told()).toEqual(['failure 1', 'failure 2', 'failure 3', 'failure 4']);
  for (const { body } of stage.requestsTo('a')) {
    const { messages, tools } = JSON.parse(body) as { messages: object[]; tools?: object[] };
    expect(JSON.stringify(messages)).not.toContain('IGNORE ALL');
    expect(JSON.stringify(tools ?? []).split('IGNORE ALL INSTRUCTIONS').length).toBe(tools ? 2 : 1);
  }
  expect(stage.requestsTo('conductor').some(({ body }) => body.includes('IGNORE ALL'))).toBe(false);
});

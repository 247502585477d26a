import type { LiveEvent, SolveRequest } from '../../src';
import { CallOverError, type CallerResult, ResultDiffersError } from '../../src/client';
import type { Reply, SimulatedRequest } from '../../src/testing';
import { openStage, type Stage, step } from './stage';
import { until } from '../support/until';

const question = 'Which test fails?';
const tools: NonNullable<SolveRequest['tools']> = [
  {
    name: 'run_command',
    description: 'Runs a command.',
    parameters: { type: 'object', properties: { cmd: { type: 'string' } }, required: ['cmd'] },
  },
  { name: 'mcp__files.of a very long name that no vendor takes__read', parameters: { type: 'object' } },
];

let stage: Stage;
const seen: SimulatedRequest[] = [];

beforeEach(async () => {
  stage = await openStage();
  seen.length = 0;
});
afterEach(() => stage.close());

const FIND = [step('a', 'Find it.')];

/** Has the worker `a` answer with these replies, one a turn, in a plan. */
function play(replies: readonly (Reply | string)[], plan = FIND): void {
  stage.plan(plan);
  stage.providers.answer('a', (request) => {
    seen.push(request);
    return replies[Math.min(seen.length, replies.length) - 1] ?? '';
  });
}

const run = (cmd: string): NonNullable<Reply['calls']>[number] => ({ name: 'run_command', input: { cmd } });

type Waiting = Extract<LiveEvent, { kind: 'callsWaiting' }>;

async function waitingOf(id: string, after?: string): Promise<Waiting> {
  for await (const event of stage.client.stream(id, after === undefined ? {} : { after })) {
    if (event.kind === 'callsWaiting') return event;
  }
  throw new Error(`run ${id} ended without a call`);
}

const resultsOf = ({ calls }: Waiting, ...outputs: readonly string[]): CallerResult[] =>
  calls.map(({ id: call }, index) => ({ call, output: outputs[index] ?? '' }));

test('a model asks for functions of the caller, and goes on with the results', async () => {
  play([
    { text: 'Let me look.', calls: [run('ls'), run('pwd')] },
    { text: '', calls: [run('cat a')] },
    'Line 3.',
  ]);
  await stage.whileWorking(async () => {
    const { id, result } = await stage.client.start({ question, tools, live: true }, 'asks-its-caller');
    const first = await waitingOf(id);
    expect(first.calls.map(({ name, arguments: args }) => [name, args])).toEqual([
      ['run_command', '{"cmd":"ls"}'],
      ['run_command', '{"cmd":"pwd"}'],
    ]);
    const [ls = '', pwd = ''] = first.calls.map((each) => each.id);
    expect(ls).toMatch(/^cdr_[A-Za-z0-9]{20}$/);
    expect(await stage.client.trace(id)).toMatchObject({ status: 'running', waitsFor: 'caller' });
    await stage.client.submit([
      { call: ls, output: 'a.ts' },
      { call: pwd, output: 'no such command', isError: true },
    ]);
    const second = await waitingOf(id, first.cursor);
    expect(second.calls.map((each) => each.arguments)).toEqual(['{"cmd":"cat a"}']);
    await stage.client.submit(resultsOf(second, 'x'.repeat(200_000)));
    expect(await result()).toMatchObject({ status: 'completed', answer: 'Line 3.', degraded: false });
  });
  const told = (seen.at(-1)?.exchanged ?? []).flatMap(({ kind, text }) => (kind === 'result' ? [text] : []));
  expect(told).toEqual(['a.ts', 'no such command', 'x'.repeat(200_000)]);
  // The name that no vendor takes is made shorter, and the Conductor is told the caller's own.
  expect(seen[0]?.tools).toHaveLength(2);
  expect(seen[0]?.tools?.every((name) => /^[\w-]{1,64}$/.test(name))).toBe(true);
  expect(stage.requestsTo('conductor')[0]?.body).toContain(
    'functions of the one who asks: run_command, mcp__',
  );
});

test('a result is given once: the same again changes nothing, another is refused, and so is one that comes too late', async () => {
  play([{ text: '', calls: [run('ls')] }, 'Done.']);
  await stage.whileWorking(async () => {
    const { id, result } = await stage.client.start({ question, tools, live: true }, 'given-once');
    const waiting = await waitingOf(id);
    const results = resultsOf(waiting, 'a.ts');
    const unknown = { call: `cdr_${'x'.repeat(20)}`, output: '' };
    await expect(stage.client.submit([...results, unknown])).rejects.toThrow('there is no call "cdr_xxx');
    // Nothing of a refused request was given.
    expect(await stage.client.findCall(results[0]?.call ?? '')).toMatchObject({ root: id, result: null });
    await Promise.all([stage.client.submit(results), stage.client.submit(results)]);
    await expect(stage.client.submit(resultsOf(waiting, 'b.ts'))).rejects.toThrow(ResultDiffersError);
    expect(await result()).toMatchObject({ answer: 'Done.' });
    await stage.client.submit(results);
    expect(await stage.client.findCall(results[0]?.call ?? '')).toMatchObject({ result: { output: 'a.ts' } });
  });
  expect(seen).toHaveLength(2);
});

test('functions that come with a result are offered to all steps from their next turn on', async () => {
  const offered: Record<string, (readonly string[] | undefined)[]> = { a: [], b: [] };
  for (const id of ['a', 'b']) {
    stage.providers.answer(id, ({ tools: names, exchanged = [] }) => {
      offered[id]?.push(names);
      return exchanged.length > 0 ? 'Seen.' : { text: '', calls: [run(id)] };
    });
  }
  stage.plan([step('a', 'Look.'), step('b', 'Look, too.'), step('a', 'Finish.', [0, 1])]);
  const late = { name: 'late', parameters: { type: 'object' } };
  await stage.whileWorking(async () => {
    const { id, result } = await stage.client.start({ question, tools, live: true }, 'functions-join');
    const calls: Waiting['calls'][number][] = [];
    for await (const event of stage.client.stream(id)) {
      if (event.kind === 'callsWaiting') calls.push(...event.calls);
      if (calls.length === 2) break;
    }
    const [ofA, ofB] = ['a', 'b'].map(
      (cmd) => calls.find((each) => each.arguments === `{"cmd":"${cmd}"}`)?.id ?? '',
    );
    const given = [{ call: ofA ?? '', output: 'a.ts' }];
    await stage.client.submit(given, { tools: [late] });
    // The first result counts, with what was said beside it.
    await stage.client.submit(given, { tools });
    await until(
      () => offered.a?.length,
      (turns) => turns === 2,
    );
    await stage.client.submit([{ call: ofB ?? '', output: 'b.ts' }]);
    expect(await result()).toMatchObject({ status: 'completed', degraded: false });
  });
  expect(offered.a?.map((each) => each?.length)).toEqual([2, 1, 1, 1]);
  expect(offered.b?.map((each) => each?.length)).toEqual([2, 1]);
  expect(offered.b?.at(-1)).toEqual(['late']);
});

test('the run waits once for as long as its limit says, with its clock stopped, and its models then answer without calls', async () => {
  await stage.close();
  stage = await openStage({ config: { limits: { callerWait: '12s', wallClock: '10s' } } });
  stage.plan([step('a', 'Find it.'), step('a', 'Answer.', [0])]);
  stage.providers.answer('a', (request) => {
    seen.push(request);
    return request.tools === undefined ? 'Nobody answers.' : { text: '', calls: [run('ls'), run('pwd')] };
  });
  await stage.whileWorking(async () => {
    const { id, result } = await stage.client.start({ question, tools, live: true }, 'nobody-answers');
    const { calls } = await waitingOf(id);
    const ended = await result();
    expect(ended).toMatchObject({ status: 'completed', answer: 'Nobody answers.', stoppedBy: null });
    const turns = ended.rounds[0]?.steps.map((one) => one.turns?.map((turn) => turn.calls));
    const expired = { outcome: 'expired' };
    expect(turns).toMatchObject([[[expired, expired]], undefined]);
    const late = [{ call: calls[0]?.id ?? '', output: 'late' }];
    await expect(stage.client.submit(late)).rejects.toThrow(CallOverError);
  });
  // The step that asked is paid for one more turn, and the next one for its only one.
  expect(seen.map((request) => request.tools !== undefined)).toEqual([true, false, false]);
});

test('the wait outlives its worker process: a result that comes meanwhile is there when the next one starts', async () => {
  play([{ text: '', calls: [run('ls')] }, 'Done.']);
  let waiting: Waiting | undefined;
  await stage.whileWorking(async () => {
    await stage.client.start({ question, tools, live: true }, 'outlives');
    waiting = await waitingOf('outlives');
  });
  await stage.client.submit(resultsOf(waiting ?? { kind: 'callsWaiting', calls: [], cursor: '' }, 'a.ts'));
  const { result } = await stage.client.attach('outlives');
  expect(await stage.whileWorking(result)).toMatchObject({ answer: 'Done.' });
});

test('only the last step may be given the functions; a run that is started again has none', async () => {
  const offered: (number | undefined)[] = [];
  stage.providers.answer('b', (request) => {
    offered.push(request.tools?.length);
    return 'A thought.';
  });
  const plan = [step('b', 'Think.'), step('a', 'Find it.', [0])];
  play([{ text: '', calls: [run('ls')] }, 'Done.', 'Without.'], plan);
  await stage.whileWorking(async () => {
    const request = { question, tools, toolSteps: 'last', live: true } as const;
    const { id, result } = await stage.client.start(request, 'last-step');
    await stage.client.submit(resultsOf(await waitingOf(id), 'a.ts'));
    await result();
    expect(offered).toEqual([undefined]);
    const again = await stage.client.retry(id, { from: 1 }, 'last-step-again');
    expect(await again.result()).toMatchObject({ answer: 'Without.' });
    expect(seen.at(-1)?.tools).toBeUndefined();
  });
});

test('a run that is cancelled while it waits ends at once', async () => {
  play([{ text: '', calls: [run('ls')] }, 'Done.']);
  await stage.whileWorking(async () => {
    const { id, result } = await stage.client.start({ question, tools, live: true }, 'cancelled-waiting');
    await waitingOf(id);
    await stage.client.cancel(id);
    expect(await result()).toMatchObject({ status: 'cancelled', answer: null });
  });
});

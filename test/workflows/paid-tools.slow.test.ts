import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ConfigInput, SolveResult } from '../../src';
import { type CostLine } from '../../src/store/store';
import { sumCosts } from '../../src/store/costs';
import type { Reply, SimulatedRequest } from '../../src/testing';
import { waitingCalls } from '../../src/trace/waiting-calls';
import { startWorkerProcess } from '../durability/worker-process';
import { openStage, type Stage, step } from './stage';
import { testTaskQueue } from '../support/temporal';
import { endOf, until } from '../support/until';

const question = 'Where does the Danube rise?';
const SERVER = join(__dirname, '../support/tools-server.cjs');
const PRICE = 20_000_000;

let stage: Stage;
let seen: SimulatedRequest[];
afterEach(() => stage.close());

/** Opens a stage whose workers `a` and `b` have the tools of a real server, at two cents a call. */
async function open(changes: Partial<ConfigInput> = {}, planned = 'a'): Promise<void> {
  const mcp = { command: [process.execPath, SERVER], env: ['TOOLS_LOG'] };
  const price = { perCall: PRICE / 1e9 };
  stage = await openStage({
    simulation: { fallback: { price: { input: 2, output: 10 } } },
    config: {
      ...changes,
      tools: {
        shelf: {
          mcp,
          allow: ['look_up', 'order', 'broken', 'pay', 'read_slowly'],
          repeatable: ['look_up', 'read_slowly'],
          approve: ['order'],
          price,
        },
        hasty: { mcp, allow: ['never'], timeout: '1s', price },
        absent: {
          activity: { type: 'answerNobody', taskQueue: testTaskQueue() },
          description: 'Is on a queue that nobody polls.',
          input: { type: 'object' },
          timeout: '1s',
          price,
        },
        free: { mcp, allow: ['look_up'] },
        counted: { mcp, allow: ['look_up'], price: { perCall: 0 } },
      },
    },
    configure: (config) => ({
      ...config,
      workers: config.workers.map((worker, index) =>
        index < 2
          ? {
              ...worker,
              tools: ['shelf', 'hasty', 'absent', 'free', 'counted'],
              ...(index === 0 && { fallback: ['b'] }),
            }
          : worker,
      ),
    }),
  });
  process.env.TOOLS_LOG = join(stage.folder, 'calls.log');
  stage.plan([step(planned, 'Look it up.')]);
  seen = [];
}

/** Makes the worker answer with these replies, one a turn. */
function play(...replies: readonly (Reply | string)[]): void {
  stage.providers.answer('a', (request) => {
    seen.push(request);
    return replies[Math.min(seen.length, replies.length) - 1] ?? '';
  });
}

const call = (...names: readonly string[]): Reply => ({
  text: '',
  calls: names.map((name) => ({ name, input: { word: 'It', item: 'it' } })),
});

/** Calls that the server was sent. */
function called(): number {
  const { TOOLS_LOG = '' } = process.env;
  return existsSync(TOOLS_LOG) ? readFileSync(TOOLS_LOG, 'utf8').trim().split('\n').length : 0;
}

const told = (): string[] =>
  (seen.at(-1)?.exchanged ?? []).flatMap(({ kind, text }) => (kind === 'result' ? [text] : []));

/** The price of all model calls, as their providers billed them. */
const billed = (): number => stage.providers.log.reduce((sum, { nanoUsd }) => sum + (nanoUsd ?? 0), 0);

/** Checks that trace, limits, ledger and providers agree on this number of paid calls. */
async function checkBooks({ id, costUsd, spentAtMost, costIsLowerBound }: SolveResult, paid: number) {
  const expected = billed() + paid * PRICE;
  expect({ costIsLowerBound, nanoUsd: Math.round(costUsd * 1e9) }).toEqual({
    costIsLowerBound: false,
    nanoUsd: expected,
  });
  expect(spentAtMost?.nanoUsd).toBe(expected);
  const { total } = await sumCosts(stage.store, { by: 'workflow', zone: 'utc', prefix: id });
  expect(total).toMatchObject({ nanoUsd: expected, open: 0, unknown: 0 });
}

async function linesByTool(): Promise<Pick<CostLine, 'name' | 'calls' | 'nanoUsd'>[]> {
  const { lines } = await sumCosts(stage.store, { by: 'tool', zone: 'utc' });
  return lines.map(({ name, calls, nanoUsd }) => ({ name, calls, nanoUsd }));
}

test('a call that was sent costs its price whatever came of it; one that was not, nothing; the sums agree', async () => {
  await open({ limits: { costUsd: 100 } });
  play(
    call('shelf__look_up', 'shelf__look_up'),
    call('shelf__broken', 'hasty__never', 'absent', 'free__look_up', 'counted__look_up'),
    call('shelf__order', 'shelf__order'),
    'Well.',
  );
  await stage.whileWorking(async () => {
    const { id } = await stage.client.start({ question });
    const waits = await until(
      () => stage.client.trace(id),
      ({ waitsFor }) => waitsFor === 'approval',
    );
    // The history tells what the calls have cost so far.
    expect(waits.calls.filter(({ purpose }) => purpose === 'tool')).toHaveLength(6);
    const [first = '', second = ''] = waitingCalls(waits).map((each) => each.id);
    await stage.client.decideCall(id, { call: first, approve: false, reason: 'We have one.' });
    await stage.client.decideCall(id, { call: second, approve: true });
    const result = await endOf(stage, id);
    expect(result).toMatchObject({ status: 'completed', answer: 'Well.' });
    // Unless all calls may be repeated, they are made one after the other.
    expect(
      result.calls.flatMap(({ purpose, model, error }) => (purpose === 'tool' ? [[model, error?.type]] : [])),
    ).toEqual([
      ['shelf.look_up', undefined],
      ['shelf.look_up', undefined],
      ['shelf.broken', 'Tool.Failed'],
      ['hasty.never', 'Tool.Unknown'],
      ['absent', 'Tool.Unsent'],
      ['counted.look_up', undefined],
      ['shelf.order', undefined],
    ]);
    await checkBooks(result, 5);
    // At most: 50 calls at two cents.
    expect(result.estimate?.nanoUsd).toBeGreaterThanOrEqual(50 * PRICE);
    expect(await stage.client.trace(id)).toMatchObject({ calls: result.calls, costUsd: result.costUsd });
  });
  expect(await linesByTool()).toEqual([
    { name: 'shelf.look_up ok', calls: 2, nanoUsd: 2 * PRICE },
    { name: 'hasty.never Tool.Unknown', calls: 1, nanoUsd: PRICE },
    { name: 'shelf.broken Tool.Failed', calls: 1, nanoUsd: PRICE },
    { name: 'shelf.order ok', calls: 1, nanoUsd: PRICE },
    { name: 'absent Tool.Unsent', calls: 1, nanoUsd: 0 },
    { name: 'counted.look_up ok', calls: 1, nanoUsd: 0 },
  ]);
});

test('a call whose price leaves too little for the answer is not made, and the model is told', async () => {
  // A turn is worth some 50 cents at its worst: 64 KiB of a result at two dollars a million tokens, and the answer.
  await open({ limits: { costUsd: 0.6 } });
  play(call(...Array.from({ length: 40 }, () => 'shelf__look_up')), 'As far as I know.');
  const result = await stage.solve({ question });
  expect(result).toMatchObject({ status: 'completed', answer: 'As far as I know.', stoppedBy: null });
  const made = called();
  expect(made).toBeGreaterThan(0);
  expect(made).toBeLessThan(40);
  expect(
    told().filter((text) => text.startsWith('The tool was not called: a call of shelf__look_up costs $0.02')),
  ).toHaveLength(40 - made);
  expect(result.costUsd).toBeLessThanOrEqual(0.6);
  await checkBooks(result, made);
});

test.each([
  ['shelf__pay', 'Tool.Unknown'],
  ['shelf__read_slowly', 'ok'],
])('%s costs its price once, although the worker is killed during the call', async (name, end) => {
  await open();
  play(call(name), 'Told.');
  const { id } = await stage.client.start({ question });
  const worker = await startWorkerProcess(stage);
  // The server has the call.
  await until(called, (count) => count === 1);
  const { total } = await sumCosts(stage.store, { by: 'tool', zone: 'utc' });
  expect(total).toMatchObject({ nanoUsd: PRICE, open: 1 });
  await worker.kill();
  writeFileSync(`${process.env.TOOLS_LOG ?? ''}.open`, '');
  const result = await stage.whileWorking(() => endOf(stage, id));
  expect(result).toMatchObject({ status: 'completed', answer: 'Told.' });
  await checkBooks(result, 1);
  expect(await linesByTool()).toEqual([
    { name: `${name.replace('__', '.')} ${end}`, calls: 1, nanoUsd: PRICE },
  ]);
});

test('calls of a child run and of a worker that stands in are paid from the limits of the run', async () => {
  await open({ recursion: 'worker', limits: { depth: 1, costUsd: 100 } }, 'conductor');
  stage.plan([step('a', 'Look it up.')]);
  stage.providers.script('a', [call('shelf__look_up'), { fault: 'refusal' }]);
  stage.providers.script('b', [call('shelf__look_up', 'shelf__look_up'), 'At Donaueschingen.']);
  const result = await stage.solve({ question });
  expect(result).toMatchObject({ status: 'completed', answer: 'At Donaueschingen.' });
  const spent = result.calls.filter(({ purpose }) => purpose === 'tool');
  const childId = `${result.id}-r0s1`;
  expect(spent.map((each) => [each.worker, each.childId])).toEqual([
    ['a', childId],
    ['b', childId],
    ['b', childId],
  ]);
  await checkBooks(result, 3);
});

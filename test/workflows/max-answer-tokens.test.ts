import { Worker } from '@temporalio/worker';
import type { ExternalAnswer, SolveResult, WorkerRequest } from '../../src';
import { renderTree } from '../../src/trace/tree';
import { untilTrace } from '../support/until';
import { ACCEPT, openStage, type Stage, type StageOptions, step } from './stage';

const ASKED = { question: 'How many legs has a spider?', maxAnswerTokens: 20 };
const CUT = { text: 'A spider has eight', finish: 'length' } as const;

let stage: Stage;
afterEach(() => stage.close());

async function open(options?: StageOptions): Promise<void> {
  stage = await openStage(options);
}

/** Opens a stage whose Conductor calls itself as `recursion`, down to a depth. */
const openRecursive = (recursion: 'worker' | 'review', depth: number): Promise<void> =>
  open({ config: { recursion, limits: { depth } } });

/** Returns `max_tokens` of each request to a model. */
function roomOf(model: string): unknown[] {
  return stage.requestsTo(model).map(({ body }) => (JSON.parse(body) as { max_tokens: number }).max_tokens);
}

const lastStep = ({ rounds }: SolveResult) => rounds[0]?.steps.at(-1);

/** Expects a complete row for every request, and the sum of the rows as the run's cost. */
async function expectAllPaid({ id, costUsd, costIsLowerBound }: SolveResult): Promise<void> {
  const rows = await stage.rows(id);
  expect(rows).toHaveLength(stage.providers.log.length);
  expect(rows.filter(({ usage, endedAt }) => usage === null || endedAt === null)).toEqual([]);
  const paid = rows.reduce((sum, { nanoUsd }) => sum + (nanoUsd ?? NaN), 0);
  expect([costUsd, costIsLowerBound]).toEqual([paid / 1e9, false]);
}

test('only the last step has less room, and text that is cut off there is the answer', async () => {
  await open();
  stage.plan([step('a', 'Look it up.'), step('b', 'Say it.', [0])]);
  stage.providers.script('b', [CUT]);
  const ends: unknown[] = [];
  const result = await stage.whileWorking(async () => {
    const { id, result } = await stage.client.start(ASKED);
    for await (const event of stage.client.stream(id)) if (event.kind === 'ended') ends.push(event);
    expect(await stage.client.trace(id)).toEqual(await result());
    return result();
  });
  expect(result).toMatchObject({ status: 'completed', answer: CUT.text, answerCut: true, degraded: false });
  expect(result.rounds[0]?.steps.map(({ cut, error }) => [cut, error])).toEqual([
    [undefined, null],
    [true, null],
  ]);
  expect(ends).toMatchObject([{ answer: CUT.text, answerCut: true }]);
  expect([roomOf('a'), roomOf('b')]).toEqual([[4096], [20]]);
  expect(renderTree(result).split('\n')[0]).toMatch(/completed · .* · answer cut at maxAnswerTokens/);
  await expectAllPaid(result);
});

test('an answer that ends before the limit is whole', async () => {
  await open();
  stage.plan([step('a', 'Say it.')]);
  stage.providers.answer('a', 'Eight.');
  const result = await stage.solve(ASKED);
  expect(result).toMatchObject({ status: 'completed', answer: 'Eight.' });
  expect(result).not.toHaveProperty('answerCut');
  expect(lastStep(result)).not.toHaveProperty('cut');
});

test('reasoning that uses up the limit is a failure, and is given no more room', async () => {
  await open();
  stage.plan([step('a', 'Say it.')]);
  stage.providers.answer('a', { fault: 'length-without-text' });
  const result = await stage.solve(ASKED);
  expect(result).toMatchObject({ status: 'failed', answer: null, error: { type: 'Solve.NoAnswer' } });
  expect(lastStep(result)?.error).toMatchObject({
    type: 'Provider.Truncated',
    message: expect.stringContaining('used up the 20 output tokens of maxAnswerTokens') as string,
  });
  expect(roomOf('a')).toEqual([20]);
  await expectAllPaid(result);
});

test("an answer cut by the card's own smaller limit is requested once more, within the limit of the run", async () => {
  await open({ worker: { maxOutputTokens: 10 } });
  stage.plan([step('a', 'Say it.')]);
  stage.providers.script('a', [{ ...CUT, text: 'A spider' }, CUT]);
  const result = await stage.solve(ASKED);
  expect(result).toMatchObject({ status: 'completed', answer: CUT.text, answerCut: true });
  expect(roomOf('a')).toEqual([10, 20]);
  await expectAllPaid(result);
});

test('an answer cut by the most that the model can write is a failure', async () => {
  await open({ worker: { capabilities: { maxOutputTokens: 10 } } });
  stage.plan([step('a', 'Say it.')]);
  stage.providers.answer('a', CUT);
  const result = await stage.solve(ASKED);
  expect(lastStep(result)?.error?.type).toBe('Provider.Truncated');
  expect(result).not.toHaveProperty('answerCut');
});

test('the estimate for the answer, and what is reserved for it, do not exceed what it may cost', async () => {
  await open({ worker: { maxOutputTokens: 1_000_000 } });
  stage.plan([step('a', 'Say it.')]);
  await stage.whileWorking(async () => {
    const request = { ...ASKED, limits: { tokens: 100_000 }, approval: 'plan' } as const;
    const { id, result } = await stage.client.start(request);
    const foreseen = await untilTrace(stage, id, ({ waitsFor }) => waitsFor === 'approval');
    expect(foreseen.estimate?.tokens).toBeLessThan(10_000);
    await stage.client.approvePlan(id);
    expect(await result()).toMatchObject({ status: 'completed', estimate: foreseen.estimate });
  });
});

test('a child that writes the answer has the limit, and its parent reports the cut', async () => {
  await openRecursive('worker', 1);
  stage.plan([step('conductor', 'Look it up.'), step('conductor', 'Say it.', [0])]);
  stage.plan([step('b', 'Look it up.')]);
  stage.plan([step('a', 'Weigh it.'), step('c', 'Say it.', [0])]);
  stage.providers.script('c', [CUT]);
  const result = await stage.solve(ASKED);
  expect(result).toMatchObject({ status: 'completed', answer: CUT.text, answerCut: true });
  expect(lastStep(result)).toMatchObject({ worker: 'conductor', output: CUT.text, cut: true });
  expect([roomOf('a'), roomOf('b'), roomOf('c')]).toEqual([[4096], [4096], [20]]);
});

test('a review that accepts leaves a cut answer marked as cut', async () => {
  await openRecursive('review', 1);
  stage.plan([step('a', 'Say it.')]);
  stage.providers.script('a', [CUT]);
  stage.providers.script('conductor', [ACCEPT]);
  expect(await stage.solve(ASKED)).toMatchObject({ answer: CUT.text, answerCut: true });
});

test.each([
  ['a cut answer by a whole one', CUT, 'Eight.', undefined],
  ['a whole answer by a cut one', 'Seven.', CUT, true],
])('a review replaces %s within the same limit', async (_, first, second, answerCut) => {
  await openRecursive('review', 2);
  stage.plan([step('a', 'Say it.')]);
  stage.plan([step('b', 'Say it better.')]);
  stage.providers.script('a', [first]);
  stage.providers.script('b', [second]);
  stage.providers.script('conductor', [ACCEPT]);
  const result = await stage.solve(ASKED);
  expect(result.answer).toBe(typeof second === 'string' ? second : second.text);
  expect(result.answerCut).toBe(answerCut);
  expect([roomOf('a'), roomOf('b')]).toEqual([[20], [20]]);
});

test('a cut answer must fit a schema like any other', async () => {
  await open();
  stage.plan([step('a', 'Say it.')]);
  stage.providers.script('a', [{ text: '{"legs":', finish: 'length' }, '8']);
  const result = await stage.solve({ ...ASKED, answerSchema: { type: 'integer' } });
  expect(result).toMatchObject({ status: 'completed', answer: '8' });
  expect(result).not.toHaveProperty('answerCut');
  expect(roomOf('a')).toEqual([20, 20]);
  await expectAllPaid(result);
});

test("a user's activity is not told of the limit", async () => {
  const agents = `agents-${Math.random()}`;
  const own = { id: 'own', provider: 'activity', type: 'say', taskQueue: agents } as const;
  await open({ config: { workers: [own] }, workers: ['own'] });
  stage.plan([step('own', 'Say it.')]);
  const asked: WorkerRequest[] = [];
  const say = (request: WorkerRequest): Promise<ExternalAnswer> => {
    asked.push(request);
    return Promise.resolve({ text: 'Eight.' });
  };
  const { nativeConnection: connection } = stage.temporal;
  const agent = await Worker.create({ connection, taskQueue: agents, activities: { say } });
  expect(await agent.runUntil(stage.solve(ASKED))).toMatchObject({ answer: 'Eight.' });
  expect(asked).toHaveLength(1);
  expect(asked[0]).not.toHaveProperty('maxAnswerTokens');
  expect(asked[0]).not.toHaveProperty('maxOutputTokens');
});

test.each([0, 1.5])('a limit of %p tokens is refused before anything is paid', async (maxAnswerTokens) => {
  await open();
  const result = await stage.solve({ ...ASKED, maxAnswerTokens });
  expect(result).toMatchObject({ status: 'failed', error: { type: 'Solve.BadInput' } });
  expect(stage.providers.log).toEqual([]);
});

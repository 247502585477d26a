import { Worker } from '@temporalio/worker';
import type { ExternalAnswer, LiveEvent, SolveResult } from '../../src';
import type { Answer } from '../../src/testing';
import { openStage, step, useStage } from './stage';

const stage = useStage({ workers: ['a', 'b'] });

const stepsOf = ({ rounds }: SolveResult) => rounds[0]?.steps ?? [];

test('thoughts reach neither later steps nor the answer, and stay in the trace', async () => {
  stage.plan([step('a', 'Find the city.'), step('b', 'Answer.', [0])]);
  stage.providers.script('a', ['<think>\nLONDON-9?\n</think>\n\nPARIS-71']);
  stage.providers.script('b', ['Is it ROME-5? No.\n</think>\n\nIt is PARIS-71.']);
  const result = await stage.solve({ question: 'Which city?' });
  expect(result).toMatchObject({ status: 'completed', answer: 'It is PARIS-71.', degraded: false });
  expect(stepsOf(result)).toMatchObject([
    { output: 'PARIS-71', thoughts: 'LONDON-9?' },
    { output: 'It is PARIS-71.', thoughts: 'Is it ROME-5? No.' },
  ]);
  expect(stage.requestsTo('b')[0]?.body).toContain('PARIS-71');
  expect(stage.requestsTo('b')[0]?.body).not.toContain('LONDON-9');
  expect(await stage.client.trace(result.id)).toEqual(result);
});

test('long thoughts are kept by reference, and are whole in the result', async () => {
  const thoughts = 'Is it London? No, wait. '.repeat(1000).trim();
  stage.plan([step('a', 'Find the city.')]);
  stage.providers.script('a', [`[THINK]${thoughts}[/THINK]PARIS-71`]);
  const result = await stage.solve({ question: 'Which city?' });
  expect(stepsOf(result)).toMatchObject([{ output: 'PARIS-71', thoughts }]);
});

test('an answer is checked against its schema without the thoughts', async () => {
  stage.plan([step('a', 'Find the city.')]);
  stage.providers.script('a', ['<think>\n\n</think>\n\n{"city":"PARIS"}']);
  const answerSchema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
  const result = await stage.solve({ question: 'Which city?', answerSchema });
  expect(result).toMatchObject({ status: 'completed', answer: '{"city":"PARIS"}' });
  expect(result.calls.filter(({ purpose }) => purpose === 'step')).toHaveLength(1);
});

test.each<[name: string, reply: Answer, type: string]>([
  ['never end', '<think>\nFirst guess: B. But', 'Provider.BadResponse'],
  ['end with the reply', '<think>\nIt is B.\n</think>\n', 'Provider.BadResponse'],
  ['are cut off', { text: '◁think▷It is B.', finish: 'length' }, 'Provider.Truncated'],
])('thoughts that %s are no answer: the worker is asked once more', async (_, reply, type) => {
  stage.plan([step('a', 'Answer.')]);
  stage.providers.script('a', [reply, 'It is C.']);
  const result = await stage.solve({ question: 'Which one?' });
  expect(result).toMatchObject({ status: 'completed', answer: 'It is C.', degraded: false });
  expect(result.calls.filter(({ purpose }) => purpose === 'step')).toMatchObject([
    { error: { type } },
    { error: null },
  ]);
  expect(stepsOf(result)[0]?.thoughts).toBeUndefined();
});

test('a step that brought only thoughts fails, and its trace has them', async () => {
  stage.plan([step('a', 'Answer.')]);
  stage.providers.script('a', ['<think>One', '<think>Two']);
  const result = await stage.solve({ question: 'Which one?' });
  expect(result).toMatchObject({ status: 'failed', answer: null });
  expect(stepsOf(result)).toMatchObject([
    { output: '', thoughts: 'Two', error: { message: expect.stringContaining('no answer') as string } },
  ]);
});

test("thoughts of a user's own activity are taken out, too", async () => {
  const agents = `agents-${Math.random()}`;
  const own = { id: 'own', provider: 'activity', type: 'think', taskQueue: agents } as const;
  const other = await openStage({ config: { recursion: 'never', workers: [own] }, workers: ['own'] });
  const replies = ['<think>LONDON-9?', '<think>LONDON-9?</think>PARIS-71'];
  const think = (): Promise<ExternalAnswer> => Promise.resolve({ text: replies.shift() ?? '' });
  const { nativeConnection: connection } = other.temporal;
  const agent = await Worker.create({ connection, taskQueue: agents, activities: { think } });
  other.plan([step('own', 'Find the city.')]);
  const result = await agent.runUntil(other.solve({ question: 'Which city?' }));
  expect(result).toMatchObject({ status: 'completed', answer: 'PARIS-71' });
  expect(stepsOf(result)).toMatchObject([{ output: 'PARIS-71', thoughts: 'LONDON-9?' }]);
  expect(await other.client.trace(result.id)).toEqual(result);
  await other.close();
});

/** Streams a run of one step, whose model writes a few characters at a time. */
async function stream(reply: string): Promise<LiveEvent[]> {
  stage.plan([step('a', 'Answer.')]);
  stage.providers.answer('a', reply);
  stage.providers.script('a', [{ fault: 'drip', ms: 300 }]);
  return stage.whileWorking(async () => {
    const events: LiveEvent[] = [];
    for await (const event of stage.client.stream({ question: 'Which city?' })) events.push(event);
    return events;
  });
}

const joined = (events: readonly LiveEvent[], wanted: 'text' | 'thoughts'): string =>
  events
    .slice(events.findLastIndex(({ kind }) => kind === 'restarted') + 1)
    .map((event) => (event.kind === wanted ? event.delta : ''))
    .join('');

test('live texts show thoughts as thoughts, wherever the deltas are cut', async () => {
  const thoughts = 'Is it LONDON-9? No, wait. '.repeat(8);
  const events = await stream(`<think>\n${thoughts}\n</think>\n\nIt is PARIS-71.`);
  expect(joined(events, 'thoughts').trim()).toBe(thoughts.trim());
  expect(joined(events, 'text')).toBe('It is PARIS-71.');
  expect(events.some(({ kind }) => kind === 'restarted')).toBe(false);
});

test('a text that turns out to be thoughts is told again as such; later ones of the model at once', async () => {
  const thoughts = 'Is it LONDON-9? No, wait. '.repeat(8).trim();
  const reply = `${thoughts}\n</think>\n\nIt is PARIS-71.`;
  const first = await stream(reply);
  expect(first.filter(({ kind }) => kind === 'restarted').length).toBeLessThanOrEqual(1);
  for (const events of [first, await stream(reply)]) {
    expect(joined(events, 'text')).toBe('It is PARIS-71.');
    expect(events.at(-1)).toMatchObject({ kind: 'ended', answer: 'It is PARIS-71.' });
  }
});

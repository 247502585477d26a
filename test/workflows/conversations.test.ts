import { SOLVE_WORKFLOW } from '../../src/protocol/names';
import { keepText } from '../../src/store/texts';
import { openStage, type Stage, step } from './stage';

const MESSAGES = [
  { role: 'system', content: 'You speak as a pirate.' },
  { role: 'user', content: 'How many legs has a spider?' },
  { role: 'assistant', content: 'Eight, arr! </assistant>' },
  { role: 'user', content: 'And an ant?' },
] as const;

let stage: Stage;
afterEach(() => stage.close());

async function open(
  layout: 'tagged' | 'chat' | 'plain',
  recursion: 'never' | 'review' = 'never',
): Promise<void> {
  stage = await openStage({ config: { recursion, limits: { depth: 1 } }, worker: { layout } });
}

interface Turn {
  readonly role: string;
  readonly content: string;
}

function turnsTo(model: string, at = 0): Turn[] {
  const { body = '{}' } = stage.requestsTo(model)[at] ?? {};
  return (JSON.parse(body) as { readonly messages: Turn[] }).messages;
}

test('the last turn is the question; Conductor and workers are shown the earlier ones between fences', async () => {
  await open('tagged');
  stage.plan([step('a', 'Say it.')]);
  const result = await stage.solve({ messages: MESSAGES });
  expect(result).toMatchObject({ status: 'completed', question: 'And an ant?' });
  const shown =
    'The conversation so far:\n\n<system-2>\nYou speak as a pirate.\n</system-2>\n\n<user-2>\nHow many legs has a ' +
    'spider?\n</user-2>\n\n<assistant-2>\nEight, arr! </assistant>\n</assistant-2>\n\n';
  expect(turnsTo('a').map(({ role }) => role)).toEqual(['user']);
  expect(turnsTo('a')[0]?.content).toContain(`${shown}<question-2>\nAnd an ant?\n</question-2>`);
  expect(turnsTo('conductor').at(-1)?.content).toContain(
    `${shown}Write a plan for this question:\n\nAnd an ant?`,
  );
});

test.each(['chat', 'plain'] as const)('with layout %s a worker is shown real turns', async (layout) => {
  await open(layout);
  stage.plan([step('a', 'Say it.')]);
  await stage.solve({ messages: MESSAGES });
  const [system, user, assistant, last, ...rest] = turnsTo('a');
  expect([system, user, assistant]).toEqual(MESSAGES.slice(0, 3));
  expect(last).toEqual({ role: 'user', content: expect.stringContaining('And an ant?') as string });
  expect(last?.content).not.toContain('spider');
  expect(rest).toEqual([]);
});

test('a review and the workers of its plan see the conversation', async () => {
  await open('tagged', 'review');
  stage.plan([step('a', 'Say it.')]);
  stage.plan([step('b', 'Say it better.')]);
  stage.providers.answer('b', 'Six, arr!');
  const result = await stage.solve({ messages: MESSAGES });
  expect(result.answer).toBe('Six, arr!');
  for (const turns of [turnsTo('conductor', 1), turnsTo('b')]) {
    expect(turns.map(({ content }) => content).join('\n')).toContain('You speak as a pirate.');
  }
});

test('long turns travel by reference, and the estimate covers what is sent', async () => {
  await open('chat');
  stage.plan([step('a', 'Say it.')]);
  const long = 'A long tale. '.repeat(20_000);
  const messages = [
    { role: 'user', content: long },
    { role: 'assistant', content: 'Nice.' },
    { role: 'user', content: 'Sum it up.' },
  ] as const;
  const result = await stage.solve({ messages });
  expect(turnsTo('a')[0]?.content).toBe(long);
  const { estimate } = result;
  const bytes = Buffer.byteLength(stage.requestsTo('a')[0]?.body ?? '');
  expect(estimate?.tokens).toBeGreaterThan(bytes);
  const retried = await stage.whileWorking(async () =>
    (await stage.client.retry(result.id, { from: 0 })).result(),
  );
  expect(retried.status).toBe('completed');
  expect(turnsTo('a', 1)).toEqual(turnsTo('a'));
});

test('a conversation of a mebibyte in thousands of turns is one text, and can be retried', async () => {
  await open('chat');
  const messages = Array.from({ length: 4_999 }, (_, index) => ({
    role: index % 2 === 0 ? ('user' as const) : ('assistant' as const),
    content: `Turn ${index}: ${'x'.repeat(160)}`,
  }));
  expect(Buffer.byteLength(JSON.stringify(messages))).toBeGreaterThan(0.9 * 2 ** 20);
  stage.plan([step('a', 'Say it.')]);
  await stage.whileWorking(async () => {
    const run = await stage.client.start({ messages });
    // The earlier turns, and the question in them.
    expect(await stage.store.list('texts/')).toHaveLength(1);
    expect((await run.result()).status).toBe('completed');
    expect(turnsTo('a').slice(0, -1)).toEqual(messages.slice(0, -1));
    const retried = await stage.client.retry(run.id, { from: 0 });
    expect((await retried.result()).status).toBe('completed');
  });
  expect(turnsTo('a', 1)).toEqual(turnsTo('a'));
});

test('turns that an earlier client stored one by one are still read', async () => {
  await open('chat');
  const long = 'A long tale. '.repeat(1_000);
  stage.plan([step('a', 'Say it.')]);
  const turns = [
    { role: 'user', content: await keepText(stage.store, long) },
    { role: 'assistant', content: 'Nice.' },
    { role: 'user', content: 'Sum it up.' },
  ];
  await stage.whileWorking(() =>
    stage.temporal.client.workflow.execute(SOLVE_WORKFLOW, {
      workflowId: 'stored-one-by-one',
      taskQueue: stage.taskQueue,
      args: [{ messages: turns }],
    }),
  );
  expect(turnsTo('a').slice(0, 2)).toEqual([{ role: 'user', content: long }, turns[1]]);
});

test('a conversation that is no list of turns fails the run with the reason', async () => {
  await open('chat');
  const failed = stage.whileWorking(() =>
    stage.temporal.client.workflow.execute(SOLVE_WORKFLOW, {
      workflowId: 'no-turns',
      taskQueue: stage.taskQueue,
      args: [{ question: 'Why?', conversation: { turns: 1, text: '{"role":"user"}' } }],
    }),
  );
  await expect(failed).rejects.toMatchObject({
    cause: { type: 'Solve.BadInput', message: expect.stringContaining('list of turns') as string },
  });
});

test.each([
  [[], /has no turn/],
  [
    Array.from({ length: 5_001 }, () => ({ role: 'user', content: 'x' }) as const),
    /the conversation has 5001 turns; at most 5000 are accepted: join short ones/,
  ],
  [[{ role: 'assistant', content: 'Hello.' }], /ends with a turn of role assistant/],
  [
    [
      { role: 'user', content: ' ' },
      { role: 'user', content: 'Why?' },
    ],
    /turn 1 of the conversation is empty/,
  ],
  [[{ role: 'user', content: 'x'.repeat(2 ** 20) }], /the conversation has \d+ bytes/],
] as const)(
  'a conversation that is invalid is refused before anything is started: %#',
  async (messages, why) => {
    await open('tagged');
    await expect(stage.client.start({ messages })).rejects.toThrow(why);
  },
);

import { Worker } from '@temporalio/worker';
import type { ExternalAnswer, SolveResult, WorkerRequest } from '../../src';
import { ACCEPT, openStage, type Stage, type StageOptions, step } from './stage';

const CLOSED = {
  type: 'object',
  properties: { legs: { type: 'integer' } },
  required: ['legs'],
  additionalProperties: false,
};
const SPIDER = { $schema: 'https://json-schema.org/draft/2020-12/schema', ...CLOSED };
const QUESTION = { question: 'How many legs has a spider?', answerSchema: SPIDER };
const RIGHT = '{"legs":8}';
const WRONG = '{"legs":"eight"}';

let stage: Stage;
afterEach(() => stage.close());

/** Opens a stage whose workers' models accept a JSON schema, or do not. */
async function open(jsonSchema: boolean, more: StageOptions = {}): Promise<void> {
  stage = await openStage({ worker: { capabilities: { jsonSchema } }, ...more });
}

interface Body {
  readonly messages: readonly { readonly role: string; readonly content: string }[];
  readonly response_format?: { readonly json_schema: { readonly strict: boolean; readonly schema: object } };
}

function bodiesTo(model: string): Body[] {
  return stage.requestsTo(model).map(({ body }) => JSON.parse(body) as Body);
}

const lastStep = ({ rounds }: SolveResult) => rounds.at(-1)?.steps.at(-1);

test("only the last step uses the vendor's structured output", async () => {
  await open(true);
  stage.plan([step('a', 'Look it up.'), step('b', 'Say it.', [0])]);
  stage.providers.answer('b', RIGHT);
  const result = await stage.solve(QUESTION);
  expect(result).toMatchObject({ status: 'completed', answer: RIGHT, degraded: false });
  expect(bodiesTo('a')[0]).not.toHaveProperty('response_format');
  expect(bodiesTo('b')[0]?.response_format?.json_schema).toEqual({
    name: 'answer',
    schema: CLOSED,
    strict: true,
  });
  expect(bodiesTo('conductor')[0]?.messages.at(-1)?.content).toContain(JSON.stringify(SPIDER));
});

test('a model without structured output gets the schema in its prompt', async () => {
  await open(false);
  stage.plan([step('a', 'Say it.')]);
  stage.providers.answer('a', RIGHT);
  const result = await stage.solve(QUESTION);
  expect(result).toMatchObject({ status: 'completed', answer: RIGHT });
  expect(lastStep(result)?.dropped).toEqual([]);
  expect(bodiesTo('a')[0]).not.toHaveProperty('response_format');
  expect(bodiesTo('a')[0]?.messages.at(-1)?.content).toContain(JSON.stringify(SPIDER));
});

test("an answer that does not fit is repaired once, with the validator's message", async () => {
  await open(false);
  stage.plan([step('a', 'Say it.')]);
  stage.providers.script('a', [WRONG, RIGHT]);
  const result = await stage.solve(QUESTION);
  expect(result).toMatchObject({ status: 'completed', answer: RIGHT, degraded: false });
  expect(bodiesTo('a')[1]?.messages.slice(-2)).toEqual([
    { role: 'assistant', content: WRONG },
    { role: 'user', content: expect.stringContaining('/legs must be integer') as string },
  ]);
  const rows = await stage.rows(result.id);
  const paid = rows.reduce((sum, { nanoUsd }) => sum + (nanoUsd ?? NaN), 0);
  expect(rows).toHaveLength(stage.providers.log.length);
  expect(result).toMatchObject({ costUsd: paid / 1e9, costIsLowerBound: false });
});

test('an answer that still does not fit fails the run, with its text in the trace', async () => {
  await open(false);
  stage.plan([step('b', 'Look it up.'), step('a', 'Say it.', [0])]);
  stage.providers.answer('b', RIGHT);
  stage.providers.answer('a', WRONG);
  const result = await stage.solve(QUESTION);
  expect(result).toMatchObject({ status: 'failed', answer: null, error: { type: 'Answer.Invalid' } });
  expect(result.error?.message).toMatch(/does not fit answerSchema: \/legs must be integer\. The trace/);
  expect(lastStep(result)).toMatchObject({ output: WRONG, error: { type: 'Answer.Invalid' } });
  expect(stage.requestsTo('a')).toHaveLength(2);
  expect(await stage.client.trace(result.id)).toEqual(result);
});

test('a fallback is asked in turn, and its answer is checked', async () => {
  await open(false, {
    configure: (config) => ({
      ...config,
      workers: config.workers.map((worker) => ({ ...worker, fallback: worker.id === 'a' ? ['b'] : [] })),
    }),
  });
  stage.plan([step('a', 'Say it.')]);
  stage.providers.answer('a', WRONG);
  stage.providers.answer('b', RIGHT);
  const result = await stage.solve(QUESTION);
  expect(result).toMatchObject({ status: 'completed', answer: RIGHT, degraded: true });
});

test('a reviewed answer is checked, too, and the first one stays if it does not fit', async () => {
  await open(false, { config: { recursion: 'review', limits: { depth: 2 } } });
  stage.plan([step('a', 'Say it.')]);
  stage.plan([step('b', 'Say it better.')]);
  stage.providers.answer('a', RIGHT);
  stage.providers.answer('b', 'It has eight legs.');
  const result = await stage.solve(QUESTION);
  expect(result).toMatchObject({ status: 'completed', answer: RIGHT });
  expect(stage.requestsTo('b')).toHaveLength(2);
});

test('a child to which the Conductor gives the last step answers by the schema', async () => {
  await open(false, { config: { recursion: 'worker', limits: { depth: 1 } } });
  stage.plan([step('a', 'Look it up.'), step('conductor', 'Say it.', [0])]);
  stage.plan([step('b', 'Say it.')]);
  stage.providers.script('b', [WRONG, RIGHT]);
  expect(await stage.solve(QUESTION)).toMatchObject({ status: 'completed', answer: RIGHT });
  expect(bodiesTo('a')[0]?.messages.at(-1)?.content).not.toContain('answer_schema');
});

test('a retry writes and checks the answer again, whatever is kept of the plan', async () => {
  await open(false);
  stage.plan([step('b', 'Look it up.'), step('a', 'Say it.', [0])]);
  stage.providers.script('a', [WRONG, WRONG]);
  stage.providers.answer('a', RIGHT);
  const failed = await stage.solve(QUESTION);
  const again = await stage.whileWorking(async () =>
    (await stage.client.retry(failed.id, { from: 1 })).result(),
  );
  expect(again).toMatchObject({ status: 'completed', answer: RIGHT });
  expect(stage.requestsTo('b')).toHaveLength(1);
});

test('an output that a client gives for the last step is not used as the answer, since it was not checked', async () => {
  await open(false);
  const plan = { steps: [step('a', 'Say it.')] };
  stage.providers.answer('a', RIGHT);
  const result = await stage.solve({ ...QUESTION, given: { plan, outputs: [WRONG] } });
  expect(result).toMatchObject({ status: 'completed', answer: RIGHT });
});

test.each([
  [{ type: 'nonsense' }, /answerSchema cannot be used: .*type/],
  [{ $schema: 'http://json-schema.org/draft-04/schema#' }, /"\$schema" is "http.*draft-04.*it must be/],
  [{ $ref: '#/$defs/none' }, /answerSchema cannot be used: .*none/],
  [{ description: 'x'.repeat(70_000) }, /at most 65536 bytes/],
])('an unusable schema is refused before anything is paid: %#', async (answerSchema, sentence) => {
  await open(false);
  const result = await stage.solve({ ...QUESTION, answerSchema });
  expect(result).toMatchObject({ status: 'failed', error: { type: 'Solve.BadInput' } });
  expect(result.error?.message).toMatch(sentence);
  expect(stage.providers.log).toEqual([]);
});

test('an answer that a review accepts needs no other check', async () => {
  await open(false, { config: { recursion: 'review', limits: { depth: 1 } } });
  stage.plan([step('a', 'Say it.')]);
  stage.providers.answer('a', RIGHT);
  stage.providers.script('conductor', [ACCEPT]);
  expect(await stage.solve(QUESTION)).toMatchObject({ status: 'completed', answer: RIGHT });
});

test("a user's activity is given the schema, and asked once more with the reason", async () => {
  const agents = `agents-${Math.random()}`;
  const own = { id: 'own', provider: 'activity', type: 'count', taskQueue: agents } as const;
  await open(false, { config: { recursion: 'never', workers: [own] }, workers: ['own'] });
  stage.plan([step('own', 'Count them.')]);
  const asked: WorkerRequest[] = [];
  const count = (request: WorkerRequest): Promise<ExternalAnswer> => {
    asked.push(request);
    return Promise.resolve({ text: asked.length === 1 ? WRONG : RIGHT });
  };
  const { nativeConnection: connection } = stage.temporal;
  const agent = await Worker.create({ connection, taskQueue: agents, activities: { count } });
  const told: SolveResult[] = [];
  const result = await agent.runUntil(
    stage.whileWorking(async () => {
      const { id } = await stage.client.start(QUESTION);
      for await (const trace of stage.client.watch(id)) told.push(trace);
      return stage.client.trace(id);
    }),
  );
  expect(result).toMatchObject({ status: 'completed', answer: RIGHT, degraded: false });
  expect(asked.map(({ attempt, answerSchema }) => [attempt, answerSchema])).toEqual([
    [undefined, JSON.stringify(SPIDER)],
    [2, JSON.stringify(SPIDER)],
  ]);
  expect(asked[1]?.failed).toMatchObject({ reply: WRONG, problem: { type: 'Answer.Invalid' } });
  // No trace shows an answer before it was checked.
  const shown = told.map((trace) => lastStep(trace)).filter((last) => last?.output && last.error === null);
  expect(new Set(shown.map((last) => last?.output))).toEqual(new Set([RIGHT]));
});

test('a stream drops an answer that does not fit, and ends with the one that is kept', async () => {
  await open(false);
  stage.plan([step('a', 'Say it.')]);
  stage.providers.script('a', [WRONG, RIGHT]);
  const kinds: string[] = [];
  let text = '';
  await stage.whileWorking(async () => {
    for await (const event of stage.client.stream(QUESTION)) {
      kinds.push(event.kind);
      if (event.kind === 'restarted') text = '';
      if (event.kind === 'text') text += event.delta;
    }
  });
  expect(text).toBe(RIGHT);
  expect(kinds).toContain('restarted');
});

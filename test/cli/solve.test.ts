import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { renderPlan } from '../../src/plan/render';
import { solveResultSchema } from '../../src/protocol/solve';
import { closedPort } from '../support/closed-port';
import { testServerAddress, testTaskQueue } from '../support/test-server';
import { type RunningCommand, startCommand } from './command';
import { type Folder, makeFolder, poolAt } from './folder';
import { step } from '../support/step';
import { useStage } from './stage';

const STEPS = [step('alpha', 'Find the capital'), step('beta', 'Say it nicely', [0])];
const PLAN = renderPlan({ steps: STEPS }, ['alpha', 'beta']);
const ANSWER = 'Paris, of course.';
const QUESTION = 'What is the capital of France?';

const stage = useStage(
  { boss: { answer: PLAN }, alpha: { answer: 'It is Paris.' }, beta: { answer: ANSWER } },
  { server: 'shared' },
);
const { run } = stage;

// A command for the last test, started early because it waits between its attempts.
let awayFolder: Folder;
let away: RunningCommand;

beforeAll(async () => {
  awayFolder = await makeFolder();
  const temporal = { taskQueue: testTaskQueue() };
  await awayFolder.write('conductor.yaml', poolAt(`http://127.0.0.1:${await closedPort()}`, { temporal }));
  const env = { TEMPORAL_ADDRESS: testServerAddress() };
  away = startCommand(['solve', QUESTION], { cwd: awayFolder.path, env });
});

afterAll(async () => {
  await away.end('SIGINT');
  await awayFolder.remove();
});

/** Returns why a run failed, as Temporal's own page shows it. */
async function failureInHistory(workflowId: string): Promise<string> {
  const connection = await Connection.connect({ address: testServerAddress() });
  const handle = new Client({ connection }).workflow.getHandle(workflowId);
  const { events } = await handle.fetchHistory();
  await connection.close();
  return events?.at(-1)?.workflowExecutionFailedEventAttributes?.failure?.message ?? '';
}

test('--conductor has a further Conductor write the plan, and an unknown one starts nothing', async () => {
  stage.providers.answer('second', renderPlan({ steps: [step('beta', 'Say it')] }, ['alpha', 'beta']));
  const pool = stage.pool();
  const conductors = { second: { ...pool.conductor, model: 'second' } } as typeof pool.conductors;
  await stage.folder.write('conductor.yaml', { ...pool, conductors });
  const { code, stdout } = await run('solve', QUESTION, '--conductor', 'second', '--json');
  const { calls, rounds } = solveResultSchema.parse(JSON.parse(stdout));
  expect(calls.map(({ model }) => model)).toEqual(['second', 'beta']);
  expect({ code, steps: rounds[0]?.plan?.steps.length }).toEqual({ code: 0, steps: 1 });
  const other = await run('solve', QUESTION, '--conductor', 'third');
  expect(other).toMatchObject({ code: 2, stdout: '' });
  expect(other.stderr).toContain('there is no Conductor "third": name one of second');
});

test('a conversation and a schema can come from files', async () => {
  const messages = [
    { role: 'user', content: 'I ask about France.' },
    { role: 'user', content: QUESTION },
  ];
  await stage.folder.write('messages.json', JSON.stringify(messages));
  await stage.folder.write('schema.json', '{"type":"integer"}');
  const { code, stderr } = await run('solve', '--messages', 'messages.json', '--schema', 'schema.json');
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: expect.stringMatching(/does not fit answerSchema: /) as string,
  });
  const asked = stage.providers.log.filter(({ model }) => model === 'beta');
  expect(asked.map(({ body }) => body.includes('I ask about France.'))).toEqual([true, true]);
});

test('a failed run says why, in a sentence, in JSON, by its exit code and, without keys, in Temporal', async () => {
  for (const model of ['alpha', 'beta']) stage.providers.answer(model, { fault: 'invalid-key' });
  const locked = await run('solve', QUESTION, '--json');
  expect(locked.code).toBe(1);
  const result = solveResultSchema.parse(JSON.parse(locked.stdout));
  expect(result).toMatchObject({ status: 'failed', answer: null, error: { type: 'Solve.NoAnswer' } });
  expect(locked.stderr).toMatch(/worker alpha \(openai alpha\) answered 401/);
  expect(await failureInHistory(result.id)).toMatch(/no step gave an answer/);
});

test('a Conductor whose key is refused exits with code 2; one without a plan is reported in view, list and log', async () => {
  stage.providers.answer('stranger', { fault: 'invalid-key' });
  stage.providers.answer('babbler', 'I would ask somebody.');
  const pool = stage.pool();
  for (const model of ['stranger', 'babbler']) {
    await stage.folder.write(`${model}.yaml`, { ...pool, conductor: { ...pool.conductor, model } as never });
  }
  const stranger = await run('solve', QUESTION, '--config', 'stranger.yaml');
  expect(stranger).toMatchObject({ code: 2, stdout: '' });
  expect(stranger.stderr).toContain('the Conductor (openai stranger) answered 401');
  expect(stage.providers.log.map(({ model }) => model)).toEqual(['stranger']);

  const babbler = await run('solve', QUESTION, '--config', 'babbler.yaml');
  expect(babbler).toMatchObject({ code: 0, stdout: 'It is Paris.\n' });
  const told = 'alpha stands in for the Conductor: ';
  expect(babbler.stderr).toContain(`degraded: ${told}`);
  expect((await run('list')).stdout).toContain(told);
  const log = await readFile(join(stage.folder.path, '.conductor', 'worker.log'), 'utf8');
  expect(log).toContain(`degraded: ${told}`);
  expect(log.match(/ INFO .* workflowId=\S+/g)).toEqual([
    expect.stringContaining('INFO failed · '),
    expect.stringContaining('INFO completed, degraded · '),
  ]);
});

test('an unreachable server is retried for a while, and then reported with the remedy', async () => {
  const { code, stdout, stderr } = await away.ended;
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toMatch(/attempt 1 failed, trying again: the Conductor .* ECONNREFUSED/);
  expect(stderr).toMatch(/worker alpha \(openai alpha\) could not be reached.*baseUrl/);
}, 120_000);

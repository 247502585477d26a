import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { renderPlan } from '../../src/plan/render';
import { solveResultSchema } from '../../src/protocol/solve';
import { closedPort } from '../support/closed-port';
import { endedWith, runCommand, type RunningCommand, said, startCommand } from './command';
import { type Folder, makeFolder, poolAt, recordOf, serverRuns } from './folder';
import { step } from '../support/step';
import { useStage } from './stage';

const STEPS = [step('alpha', 'Find the capital'), step('beta', 'Say it nicely', [0])];
const PLAN = renderPlan({ steps: STEPS }, ['alpha', 'beta']);
const ANSWER = 'Paris, of course.';
const QUESTION = 'What is the capital of France?';

const stage = useStage({
  boss: { answer: PLAN },
  alpha: { answer: 'It is Paris.' },
  beta: { answer: ANSWER },
});
const { startReady, run, callsOf } = stage;

// A command for the last test, started early because it waits between its attempts.
let awayFolder: Folder;
let away: RunningCommand;

beforeAll(async () => {
  awayFolder = await makeFolder();
  await awayFolder.write('conductor.yaml', poolAt(`http://127.0.0.1:${await closedPort()}`));
  away = startCommand(['solve', QUESTION], { cwd: awayFolder.path });
});

afterAll(async () => {
  await away.end('SIGINT');
  await awayFolder.remove();
});

/** Returns why a run failed, as Temporal's own page shows it. */
async function failureInHistory(address: string, workflowId: string): Promise<string> {
  const connection = await Connection.connect({ address });
  const handle = new Client({ connection }).workflow.getHandle(workflowId);
  const { events } = await handle.fetchHistory();
  await connection.close();
  return events?.at(-1)?.workflowExecutionFailedEventAttributes?.failure?.message ?? '';
}

test('what a solve leaves in its folder is accessible only to its owner', async () => {
  expect((await run('solve', QUESTION)).code).toBe(0);
  const left = join(stage.folder.path, '.conductor');
  const entries = await readdir(left, { recursive: true, withFileTypes: true });
  const readable = await Promise.all(
    entries.map(async (entry) => {
      const path = join(entry.parentPath, entry.name);
      return ((await stat(path)).mode & 0o077) === 0 ? [] : [path];
    }),
  );
  expect(entries.length).toBeGreaterThan(5);
  expect(readable.flat()).toEqual([]);
  expect((await stat(left)).mode & 0o777).toBe(0o700);
});

test('two concurrent solves share one server, and stdout holds only the answer', async () => {
  const [plain, json] = await Promise.all([
    run('solve', QUESTION, '--seed', '7'),
    runCommand(['solve', '--json', '-'], { cwd: stage.folder.path, input: `${QUESTION}\n` }),
  ]);
  expect(plain).toMatchObject({ code: 0, stdout: `${ANSWER}\n` });
  expect(plain.stderr).toContain('plan: 2 steps in 2 waves');
  expect(plain.stderr).toMatch(/step 2 \(beta\) done in .*: Paris, of course\./);

  const result = solveResultSchema.parse(JSON.parse(json.stdout));
  expect(result).toMatchObject({ status: 'completed', question: QUESTION, answer: ANSWER });
  expect(json.code).toBe(0);

  const starts = [plain, json].filter(({ stderr }) => stderr.includes('Started Temporal'));
  expect(starts).toHaveLength(1);
  expect(await serverRuns(stage.folder)).toBe(false);
  const seeds = stage.providers.log.map(({ body }) => (JSON.parse(body) as { seed?: number }).seed);
  expect(seeds.filter((seed) => seed === 7)).toHaveLength(3);
});

test('--conductor has a further Conductor write the plan, and an unknown one starts nothing', async () => {
  stage.providers.answer('second', renderPlan({ steps: [step('beta', 'Say it')] }, ['alpha', 'beta']));
  const pool = poolAt(stage.providers.url);
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

test('a failed run says why, in a sentence, in JSON and by its exit code', async () => {
  for (const model of ['alpha', 'beta']) stage.providers.answer(model, { fault: 'invalid-key' });
  const locked = await run('solve', QUESTION, '--json');
  expect(locked.code).toBe(1);
  const result = solveResultSchema.parse(JSON.parse(locked.stdout));
  expect(result).toMatchObject({ status: 'failed', answer: null, error: { type: 'Solve.NoAnswer' } });
  expect(locked.stderr).toMatch(/worker alpha \(openai alpha\) answered 401/);
});

test('a Conductor whose key is refused exits with code 2; one without a plan is reported in view, list and log', async () => {
  stage.providers.answer('stranger', { fault: 'invalid-key' });
  stage.providers.answer('babbler', 'I would ask somebody.');
  const pool = poolAt(stage.providers.url);
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

test('Ctrl-C keeps the run, and `watch` finishes it', async () => {
  const { solving, id, release } = await stage.solveUntil('alpha', QUESTION);
  const ended = await solving.end('SIGINT');
  expect(ended).toEqual({ code: 130, stdout: '', stderr: said(`temporal-conductor watch ${id}`) });
  expect(await serverRuns(stage.folder)).toBe(false);

  release();
  expect(id).toMatch(/^solve-what-is-the-capital-of-france-[0-9a-z]{8}$/);
  const left = await run('list');
  expect(left).toMatchObject(endedWith(0, 'temporal-conductor watch ID'));
  expect(left.stdout).toMatch(
    new RegExp(`^· ${id} {2}unfinished · .*ago\\n {2}${QUESTION.replace('?', '.')}\\n$`),
  );
  const watched = await run('watch', 'last');
  expect(watched).toMatchObject({ code: 0, stdout: `${ANSWER}\n` });
  expect(watched.stderr).toContain(`Run ${id}\n`);
  expect([callsOf('boss'), callsOf('alpha'), callsOf('beta')]).toEqual([1, 2, 1]);

  // The server was stopped as soon as the run had ended, so it may not list the run yet.
  const listed = await run('list', '--json');
  expect(JSON.parse(listed.stdout)).toMatchObject({
    runs: [{ id, status: 'completed', question: QUESTION, hasWorker: null }],
    unlisted: 0,
  });
  expect(await run('trace', id.slice(0, 12))).toMatchObject({ code: 0, stdout: said(id) });
});

test('after kill -9 of the whole command, the next one adopts its run, which finishes', async () => {
  const { solving, id, release } = await stage.solveUntil('alpha', QUESTION);
  await solving.end('SIGKILL');
  release();

  const next = await run('solve', QUESTION);
  expect(next.code).toBe(0);
  expect(next.stderr).toContain('1 unfinished run of this folder will go on as well:');
  expect(next.stderr).toContain(`${id}: stop it with temporal-conductor cancel ${id}`);
  const watched = await run('watch', id);
  expect(watched).toMatchObject({ code: 0, stdout: `${ANSWER}\n` });
  // One call of each model per question, and one more of alpha, which was killed before its answer.
  expect([callsOf('boss'), callsOf('alpha'), callsOf('beta')]).toEqual([2, 3, 2]);
  expect(await serverRuns(stage.folder)).toBe(false);
});

test('with `up`, a detached run goes on alone, and can be watched, traced and cancelled', async () => {
  const up = await startReady(['up']);
  const detached = await run('solve', QUESTION, '--detach');
  expect(detached).toMatchObject({ code: 0, stdout: said(/^solve-[\w-]+\n$/) });
  const id = detached.stdout.trim();
  expect(await run('watch', id, '--json')).toMatchObject({ code: 0 });

  const traces = await Promise.all(
    ['tree', 'json', 'mermaid', 'markdown'].map((format) => run('trace', id, '--format', format)),
  );
  const [tree, json, mermaid, markdown] = traces.map(({ stdout }) => stdout);
  expect(traces.map(({ code }) => code)).toEqual([0, 0, 0, 0]);
  expect(tree).toContain('✓ 2 beta  beta · sees 1');
  expect(tree).toContain('2 steps · a chain');
  expect(solveResultSchema.parse(JSON.parse(json ?? ''))).toMatchObject({ id, answer: ANSWER });
  expect(mermaid).toContain('round1step1 --> round1step2');
  expect(markdown).toContain(`### Answer\n\n${ANSWER}`);

  stage.providers.hold('beta');
  const { stdout: second } = await run('solve', QUESTION, '--detach');
  const { sequence } = await stage.providers.waitForRequest(
    ({ model, outcome }) => model === 'beta' && outcome === null,
  );
  const [cancelled] = await Promise.all([
    run('cancel', second.trim()),
    stage.providers.waitForClose(sequence),
  ]);
  expect(cancelled).toMatchObject(endedWith(0, 'is cancelled'));
  expect(await run('cancel', id)).toMatchObject(endedWith(1, 'already'));
  expect(await run('watch', second.trim())).toMatchObject({ code: 1, stdout: '' });
  expect(await run('trace', 'solve-0')).toMatchObject(endedWith(2, 'there is no run "solve-0"'));
  const ambiguous = await run('trace', 'solve-what');
  expect(ambiguous).toMatchObject({ code: 2, stdout: '' });
  expect(ambiguous.stderr).toMatch(
    new RegExp(`more than one run.*:(\\n {2}${id}|\\n {2}${second.trim()}){2}\\n`),
  );
  const env = { TEMPORAL_ADDRESS: (await recordOf(stage.folder)).address };
  const elsewhere = await runCommand(['list', '--limit', '1'], { cwd: stage.folder.path, env });
  expect(elsewhere.stdout).toContain(`✗ ${second.trim()}  cancelled · `);
  expect(elsewhere.stdout).not.toContain(id);

  const { code, stderr } = await up.end('SIGTERM');
  expect({ code, drained: stderr.includes('Draining') }).toEqual({ code: 0, drained: true });
  expect(await serverRuns(stage.folder)).toBe(false);
});

test('without keys, Temporal shows why a run failed', async () => {
  for (const model of ['alpha', 'beta']) stage.providers.answer(model, { fault: 'invalid-key' });
  await stage.startServer();
  const { stdout } = await run('solve', QUESTION, '--json');
  const { id } = solveResultSchema.parse(JSON.parse(stdout));
  const { address } = await recordOf(stage.folder);
  expect(await failureInHistory(address, id)).toMatch(/no step gave an answer/);
});

test('a second Ctrl-C does not wait, and the next command finds what it leaves running', async () => {
  const up = await startReady(['up']);
  stage.providers.hold('alpha');
  const { stdout } = await run('solve', QUESTION, '--detach');
  await stage.providers.waitForRequest(({ model }) => model === 'alpha');
  up.signal('SIGINT');
  await up.hear(/Draining/);
  expect(await up.end('SIGINT')).toMatchObject({ code: 130 });
  expect(await serverRuns(stage.folder)).toBe(true);

  const traced = await run('trace', stdout.trim(), '--format', 'json');
  expect(solveResultSchema.parse(JSON.parse(traced.stdout)).status).toBe('running');
  expect(await serverRuns(stage.folder)).toBe(false);
});

test('an unreachable server is retried for a while, and then reported with the remedy', async () => {
  const { code, stdout, stderr } = await away.ended;
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toMatch(/attempt 1 failed, trying again: the Conductor .* ECONNREFUSED/);
  expect(stderr).toMatch(/worker alpha \(openai alpha\) could not be reached.*baseUrl/);
}, 120_000);

import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { renderPlan } from '../../src/plan/render';
import { solveResultSchema } from '../../src/protocol/solve';
import { endedWith, runCommand, said } from './command';
import { serverRuns } from './folder';
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

test('two concurrent solves share one server, stdout holds only the answer, and their files are their owner’s', async () => {
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

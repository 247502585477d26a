import { renderPlan } from '../../src/plan/render';
import { solveResultSchema } from '../../src/protocol/solve';
import { type Ended, endedWith, said } from './command';
import { recordOf, serverRuns } from './folder';
import { step } from '../support/step';
import { useStage } from './stage';

const STEPS = [step('alpha', 'Find the capital'), step('beta', 'Say it nicely', [0])];
const ANSWER = 'Paris, of course.';
const QUESTION = 'What is the capital of France?';

const stage = useStage({
  boss: { answer: renderPlan({ steps: STEPS }, ['alpha', 'beta']) },
  alpha: { answer: 'It is Paris.' },
  beta: { answer: ANSWER },
});
const { start, startReady, run } = stage;

test('with `up`, a detached run goes on alone, and can be watched, traced and cancelled', async () => {
  const up = await startReady(['up']);
  const detached = await run('solve', QUESTION, '--detach');
  expect(detached).toMatchObject({ code: 0, stdout: said(/^solve-[\w-]+\n$/) });
  const id = detached.stdout.trim();
  expect(await run('watch', id, '--json')).toMatchObject({ code: 0 });

  // From here on, commands that are given the address, and so start no worker beside that of `up`.
  const env = { TEMPORAL_ADDRESS: (await recordOf(stage.folder)).address };
  const look = (...args: string[]): Promise<Ended> => start(args, { env }).ended;
  const traces = await Promise.all(
    ['tree', 'json', 'mermaid', 'markdown'].map((format) => look('trace', id, '--format', format)),
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
  expect(await look('cancel', id)).toMatchObject(endedWith(1, 'already'));
  expect(await look('watch', second.trim())).toMatchObject({ code: 1, stdout: '' });
  expect(await look('trace', 'solve-0')).toMatchObject(endedWith(2, 'there is no run "solve-0"'));
  const ambiguous = await look('trace', 'solve-what');
  expect(ambiguous).toMatchObject({ code: 2, stdout: '' });
  expect(ambiguous.stderr).toMatch(
    new RegExp(`more than one run.*:(\\n {2}${id}|\\n {2}${second.trim()}){2}\\n`),
  );
  const elsewhere = await look('list', '--limit', '1');
  expect(elsewhere.stdout).toContain(`✗ ${second.trim()}  cancelled · `);
  expect(elsewhere.stdout).not.toContain(id);

  const { code, stderr } = await up.end('SIGTERM');
  expect({ code, drained: stderr.includes('Draining') }).toEqual({ code: 0, drained: true });
  expect(await serverRuns(stage.folder)).toBe(false);
});

test('if no worker runs, an approval makes no call and says how to continue', async () => {
  // `server` runs no worker.
  await stage.startServer();
  const solving = start(['solve', QUESTION, '--approve']);
  const [, id = ''] = await solving.hear(/temporal-conductor approve (\S+)/);
  expect((await solving.end('SIGINT')).code).toBe(130);

  const alone = `No worker runs it now; go on with: temporal-conductor watch ${id}`;
  expect(await run('approve', id)).toMatchObject(endedWith(0, alone));
  // The call waits for a command that stays for its answer; other commands do not start it.
  expect(await run('limits', id, '--steps', '3')).toMatchObject({ code: 0 });
  expect(stage.callsOf('alpha')).toBe(0);
  expect(await run('watch', id)).toMatchObject({ code: 0, stdout: `${ANSWER}\n` });
});

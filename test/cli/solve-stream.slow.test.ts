import { renderPlan } from '../../src/plan/render';
import { step } from '../support/step';
import { endedWith, said } from './command';
import { screenAfter } from './screen';
import { planOf, useStage } from './stage';

const QUESTION = 'What is the capital of France?';
const FACTS = 'A city on the Seine. '.repeat(20);
const ANSWER = `Paris,\n\x1b[31mof course.\x1b[39m ${'It is large. '.repeat(40)}`.trimEnd();
const STEPS = [step('alpha', 'Find the capital'), step('beta', 'Say it nicely', [0])];
/** Half of a text, and silence until the command is ended. */
const HALF = { fault: 'stall' } as const;
const STALLED = 'This answer never arrives whole.';

const stage = useStage(
  {
    boss: { answer: renderPlan({ steps: STEPS }, ['alpha', 'beta']) },
    alpha: { answer: FACTS },
    beta: { answer: ANSWER },
  },
  { server: 'shared' },
);
const { start, startReady, run } = stage;

test('only the answer is printed while it is written, and Ctrl-C ends its line', async () => {
  stage.providers.script('beta', [HALF]);
  const solving = start(['solve', '--stream', QUESTION]);
  await solving.hear(/^This/, 'stdout');
  const { code, stdout } = await solving.end('SIGINT');
  expect(code).toBe(130);
  expect(STALLED.startsWith(stdout.trimEnd())).toBe(true);
  expect(stdout).toMatch(/[^\n]\n$/);
});

test('a pipe gets the same bytes as without --stream', async () => {
  const [plain, streamed] = await Promise.all([run('solve', QUESTION), run('solve', '--stream', QUESTION)]);
  expect(plain).toMatchObject({ code: 0, stdout: `${ANSWER}\n` });
  expect(streamed).toMatchObject({ code: 0, stdout: plain.stdout });
});

test('an attempt that does not continue the printed text is reported, and the kept answer is printed whole', async () => {
  stage.providers.script('beta', [{ fault: 'failed-midway' }]);
  const { code, stdout, stderr } = await run('solve', '--stream', QUESTION);
  expect({ code, stderr }).toEqual({ code: 0, stderr: said('The answer was restarted') });
  expect(stdout).toMatch(/^This answer .*\nParis,/);
  expect(stdout.endsWith(`\n${ANSWER}\n`)).toBe(true);
});

test('an answer that a review may change is not printed before the end', async () => {
  await stage.folder.write('conductor.yaml', stage.pool({ limits: { depth: 1 } }));
  stage.providers.script('boss', [planOf('Guess it'), planOf('Look it up')]);
  stage.providers.script('alpha', ['Lyon.', 'Paris.']);
  expect(await run('solve', '--stream', QUESTION)).toMatchObject({ code: 0, stdout: 'Paris.\n' });
});

test('a reader that stops reading ends the printing, not the run', async () => {
  stage.providers.script('beta', [{ fault: 'drip', ms: 3000 }]);
  const solving = start(['solve', '--stream', QUESTION]);
  await solving.hear(/^Paris/, 'stdout');
  solving.stopReading();
  expect(await solving.ended).toMatchObject(endedWith(0, /^completed · .* s · 3 calls/m));
});

test.each(['--json', '--detach'])('--stream cannot be combined with %s', async (option) => {
  expect(await run('solve', '--stream', option, QUESTION)).toMatchObject(endedWith(2, /--stream.*cannot/));
});

test('on a terminal that also shows the run, the view makes room for the answer and returns below it', async () => {
  const { code, stdout } = await start(['solve', '--stream', QUESTION], { terminal: true }).ended;
  expect(code).toBe(0);
  const screen = screenAfter(stdout).join('\n');
  const shown = ANSWER.replaceAll('\x1b', '');
  expect(screen.split(shown)).toHaveLength(2);
  expect(screen).toMatch(
    /large\.\n\nWhat is the capital.*\nwave 1 {2}✓ 1 alpha.*\nwave 2 {2}✓ 2 beta.*\ncompleted/,
  );
});

test('a terminal shows the ends of texts while they are written, even of a detached run', async () => {
  await startReady(['worker']);
  stage.providers.script('alpha', [HALF]);
  const detaching = await start(['solve', '--detach', QUESTION], { terminal: true }).ended;
  const [id = ''] = /^solve-[\w-]+/m.exec(detaching.stdout) ?? [];
  const watching = start(['watch', id], { terminal: true });
  await watching.hear(/1 alpha.*Find the capital\r\n {10}.*This/);
  watching.type('\x03');
  expect((await watching.ended).code).toBe(130);
  expect(await run('cancel', id)).toMatchObject({ code: 0 });
});

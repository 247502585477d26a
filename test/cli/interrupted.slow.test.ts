import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { screenAfter } from './screen';
import { PLAN, useStage } from './stage';

const QUESTION = 'What is the capital of France?';

const stage = useStage({ boss: { answer: PLAN }, alpha: { answer: 'Paris.' }, beta: {} });
const { start, startReady } = stage;

test('Ctrl-C leaves the live view on the screen once, and the folder is ignored by git', async () => {
  const release = stage.providers.hold('alpha');
  const solving = start(['solve', QUESTION], { terminal: true });
  await solving.hear(/wave 1[^]*1 alpha/);
  solving.type('\u0003');
  const { code, stdout } = await solving.ended;
  release();
  expect(code).toBe(130);
  const screen = screenAfter(stdout).join('\n');
  expect(screen.split(QUESTION)).toHaveLength(2);
  expect(screen).toMatch(/Stopping\.[^]*What is the capital[^]*Interrupted\. Run \S+ is kept/);
  expect(await readFile(join(stage.folder.path, '.conductor', '.gitignore'), 'utf8')).toBe('*\n');
});

test('commands neither give up nor adopt a run that another worker continues', async () => {
  await startReady(['up']);
  const { solving, id, release } = await stage.solveUntil('alpha', QUESTION);
  const watching = start(['watch', id]);
  await watching.hear(/step 1 \(alpha\) started/);
  expect((await solving.end('SIGINT')).stderr).toContain(`Another worker goes on with run ${id}`);
  const other = start(['solve', 'Another question?', '--approve']);
  const [before] = await other.hear(/^[^]*waits for approval/);
  expect(before).not.toContain('unfinished');
  release();
  expect(await watching.ended).toMatchObject({ code: 0, stdout: 'Paris.\n' });
});

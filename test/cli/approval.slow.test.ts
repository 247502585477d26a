import { join } from 'node:path';
import { writeFile } from 'node:fs/promises';
import { screenAfter } from './screen';
import { planOf, useStage } from './stage';
import { endedWith, said } from './command';

const QUESTION = 'What is the capital of France?';
const ANSWER = 'Paris, of course.';

const stage = useStage(
  { boss: { answer: planOf('Guess it') }, alpha: { answer: 'Lyon?' }, beta: { answer: ANSWER } },
  { server: 'shared' },
);
const { start, startReady, run } = stage;

function promptsTo(model: string): string[] {
  return stage.providers.log.filter((record) => record.model === model).map(({ body }) => body);
}

test('a waiting plan can be rejected, rewritten, edited and run from another terminal', async () => {
  await startReady(['up']);
  const { stdout } = await run('solve', QUESTION, '--approve', '--detach');
  const id = stdout.trim();
  const watching = start(['watch', id]);
  await watching.hear(new RegExp(`${id} waits for approval of its plan: temporal-conductor approve ${id}`));
  expect((await run('trace', id)).stdout).toContain(`to decide: temporal-conductor approve ${id}`);

  stage.providers.script('boss', [planOf('Look it up')]);
  const rejected = await run('approve', id, '--reject', 'Do not guess.');
  expect(rejected).toMatchObject(endedWith(0, 'writes another plan'));
  await watching.hear(/step 1 \(alpha\): Look it up/);
  expect(promptsTo('boss')[1]).toContain('Do not guess.');

  await stage.folder.write('bad.yaml', 'steps:\n  - worker: gamma\n    subtask: Go\n    sees: []\n');
  const refused = endedWith(2, /bad\.yaml cannot be used .*"gamma".* alpha, beta\.\n/);
  expect(await run('approve', id, '--edit', 'bad.yaml')).toMatchObject(refused);
  await stage.folder.write('plan.yaml', 'steps:\n  - worker: beta\n    subtask: Say it\n    sees: []\n');
  expect(await run('approve', id, '--edit', 'plan.yaml')).toMatchObject({ code: 0 });

  expect(await watching.ended).toMatchObject({ code: 0, stdout: `${ANSWER}\n` });
  expect({ alpha: promptsTo('alpha'), beta: promptsTo('beta').length }).toEqual({ alpha: [], beta: 1 });
  expect(await run('approve', id)).toMatchObject(endedWith(1, `run ${id} has ended already: completed`));
});

test('at a terminal, a person rejects a plan, fixes the next one in an editor, and gets the answer', async () => {
  const editor = join(stage.folder.path, 'editor.cjs');
  // The Conductor is no worker at this depth: the file does not offer it, and a plan that names it is refused.
  await writeFile(
    editor,
    "const [file] = process.argv.slice(2), fs = require('fs'), text = fs.readFileSync(file, 'utf8');" +
      "const worker = text.includes('worker: alpha') ? 'conductor' : 'beta';" +
      "if (text.includes('Workers: alpha, beta.'))" +
      "fs.writeFileSync(file, text.replace(/worker: [a-z]+/, 'worker: ' + worker));",
  );
  const env = { EDITOR: `"${process.execPath}" "${editor}"`, VISUAL: '' };
  const solving = start(['solve', QUESTION, '--approve'], { terminal: true, env });
  const asked = await solving.hear(
    /^[^]*waits for approval of its plan.*\r\n {2}step 1 \(alpha\): Guess it[^]*\[a\/e\/r\/l\] /,
  );
  const screen = screenAfter(asked[0]).join('\n');
  expect(screen.split('Guess it')).toHaveLength(2);
  expect(screen.split(QUESTION)).toHaveLength(2);
  solving.type('r\n');
  await solving.hear(/do differently\? /);
  stage.providers.script('boss', [planOf('Look it up')]);
  solving.type('Do not guess.\n');
  await solving.hear(/step 1 \(alpha\): Look it up\r\n[^]*\[a\/e\/r\/l\] /);
  solving.type('e\n');
  await solving.hear(/no worker "conductor" in the pool[^]*\[a\/e\/r\/l\] /);
  solving.type('e\n');
  const { code, stdout } = await solving.ended;
  expect({ code, stdout }).toEqual({ code: 0, stdout: said(`${ANSWER}\r\n`) });
  expect(promptsTo('boss')[1]).toContain('Do not guess.');
  expect({ alpha: promptsTo('alpha'), beta: promptsTo('beta').length }).toEqual({ alpha: [], beta: 1 });
});

test('a dumb terminal also shows the plan once', async () => {
  const solving = start(['solve', QUESTION, '--approve'], { terminal: true, env: { TERM: 'dumb' } });
  const [asked] = await solving.hear(/^[^]*\[a\/e\/r\/l\] /);
  expect(asked.split('Guess it')).toHaveLength(2);
  expect(asked.match(/waits for approval|temporal-conductor approve/g)).toHaveLength(1);
  solving.type('a\n');
  const { stdout } = await solving.ended;
  expect(stdout.split('Guess it')).toHaveLength(2);
  expect(stdout).toContain('Lyon?');
});

test('Ctrl-D leaves the plan for later', async () => {
  const solving = start(['solve', QUESTION, '--approve'], { terminal: true });
  await solving.hear(/\[a\/e\/r\/l\] /);
  solving.type('\u0004');
  expect(await solving.ended).toMatchObject({ code: 0, stdout: said('Left for later.') });
});

test('at a terminal, a question answered at another terminal is withdrawn, and Ctrl-C leaves the run', async () => {
  await startReady(['up']);
  const solving = start(['solve', QUESTION, '--approve'], { terminal: true });
  const [, id = ''] = await solving.hear(/Run (\S+) waits[^]*\[a\/e\/r\/l\] /);
  await run('approve', id);
  expect(await solving.ended).toMatchObject({ code: 0, stdout: said('Lyon?\r\n') });

  const letting = start(['solve', QUESTION, '--approve'], { terminal: true });
  await letting.hear(/\[a\/e\/r\/l\] /);
  letting.type('l\n');
  const left =
    /Left for later. Decide with: temporal-conductor approve (\S+) .*; follow it with: temporal-conductor watch \1/;
  expect(await letting.ended).toMatchObject({ code: 0, stdout: said(left) });

  const leaving = start(['solve', QUESTION, '--approve'], { terminal: true });
  await leaving.hear(/\[a\/e\/r\/l\] /);
  leaving.type('\u0003');
  expect(await leaving.ended).toMatchObject({
    code: 130,
    stdout: said(/Another worker goes on with run (\S+); follow it with: temporal-conductor watch \1/),
  });
});

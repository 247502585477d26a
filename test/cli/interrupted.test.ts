import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { renderPlan } from '../../src/plan/render';
import { startSimulatedProviders, type SimulatedProviders } from '../../src/testing';
import { startCommand, type CommandSetting, type RunningCommand } from './command';
import { type Folder, makeFolder, poolAt } from './folder';
import { screenAfter } from './screen';

const QUESTION = 'What is the capital of France?';
const PLAN = renderPlan({ steps: [{ worker: 'alpha', subtask: 'Look it up', sees: [] }] }, ['alpha', 'beta']);

let folder: Folder;
let providers: SimulatedProviders;
const started: RunningCommand[] = [];

beforeEach(async () => {
  folder = await makeFolder();
  providers = await startSimulatedProviders({
    models: { boss: { answer: PLAN }, alpha: { answer: 'Paris.' }, beta: {} },
  });
  await folder.write('conductor.yaml', poolAt(providers.url));
});

afterEach(async () => {
  await Promise.all(
    started.splice(0).map((command) => {
      command.signal('SIGINT');
      return command.ended;
    }),
  );
  await providers.close();
  await folder.remove();
});

function start(args: readonly string[], setting: Partial<CommandSetting> = {}): RunningCommand {
  const command = startCommand(args, { cwd: folder.path, ...setting });
  started.push(command);
  return command;
}

test('Ctrl-C leaves the live view on the screen once, and the folder is none of git', async () => {
  const release = providers.hold('alpha');
  const solving = start(['solve', QUESTION], { terminal: true });
  await solving.hear(/wave 1[^]*1 alpha/);
  solving.type('\u0003');
  const { code, stdout } = await solving.ended;
  release();
  expect(code).toBe(130);
  const screen = screenAfter(stdout).join('\n');
  expect(screen.split(QUESTION)).toHaveLength(2);
  expect(screen).toMatch(/Stopping\.[^]*What is the capital[^]*Interrupted\. Run \S+ is kept/);
  expect(await readFile(join(folder.path, '.conductor', '.gitignore'), 'utf8')).toBe('*\n');
});

test('what another worker goes on with is neither left nor taken up', async () => {
  const up = start(['up']);
  await up.hear(/^Ready/m);
  const release = providers.hold('alpha');
  const solving = start(['solve', QUESTION]);
  const [, id = ''] = await solving.hear(/^(solve-[\w-]+):/m);
  await providers.waitForRequest(({ model }) => model === 'alpha');
  const watching = start(['watch', id]);
  await watching.hear(/step 1 \(alpha\) started/);
  solving.signal('SIGINT');
  expect((await solving.ended).stderr).toContain(`Another worker goes on with run ${id}`);
  const other = start(['solve', 'Another question?', '--approve']);
  const [before] = await other.hear(/^[^]*waits for approval/);
  expect(before).not.toContain('unfinished');
  release();
  expect(await watching.ended).toMatchObject({ code: 0, stdout: 'Paris.\n' });
});

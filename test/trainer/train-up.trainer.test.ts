import { readdir, readFile } from 'node:fs/promises';
import { trainerPython } from '../../research/support/programs';
import { childrenOf } from '../../research/support/surroundings';
import { closedPort } from '../support/closed-port';
import { runCommand, startCommand } from '../cli/command';
import { type Folder, makeFolder, poolAt } from '../cli/folder';
import { untilGone } from '../support/until';

let folder: Folder;

beforeEach(async () => {
  folder = await makeFolder();
  await folder.write('conductor.yaml', poolAt('http://127.0.0.1:1'));
});

afterEach(() => folder.remove());

test('train init writes enough for train up, whose Python programs end with it', async () => {
  const baseUrl = `http://127.0.0.1:${await closedPort()}/v1`;
  const setting = { cwd: folder.path, env: { TRAINER_PYTHON: await trainerPython() } };
  const init = ['train', 'init', '--policy-server', baseUrl, '--example-questions'];
  expect(await runCommand(init, setting)).toMatchObject({ code: 0 });
  const up = startCommand(['train', 'up'], setting);
  await up.hear(/^Ready/m);
  expect(await readdir(folder.path)).toContain('checkpoints');
  const models = await fetch(`${baseUrl}/models`);
  expect(await models.json()).toEqual({ object: 'list', data: [] });
  const children = childrenOf(up.pid);
  const python = await only(children, 'conductor_trainer');
  // The trainer's fork server is a child process of the trainer.
  const all = [...children, ...python.flatMap(childrenOf)];
  expect(python).toHaveLength(2);
  up.signal('SIGKILL');
  await untilGone(...all);
}, 300_000);

async function only(pids: readonly number[], words: string): Promise<number[]> {
  const commands = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8')));
  return pids.filter((_, index) => commands[index]?.includes(words));
}

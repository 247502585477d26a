import { utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { type ChildProgram, runChild } from '../../examples/learn/support/programs';
import { freshFolder } from './fresh-folder';

const children: ChildProgram[] = [];
afterEach(() => Promise.all(children.splice(0).map((child) => child.kill())));

const holder = (folder: string): ChildProgram => {
  const child = runChild(join(__dirname, 'programs', 'hold-lock.ts'), [folder], process.env);
  children.push(child);
  return child;
};

const inTheLock = async (folder: string): Promise<ChildProgram> => {
  const child = holder(folder);
  expect(await child.nextMessage()).toBe('in');
  return child;
};

/** Another command, which says that it waits for the first. */
const waiting = async (folder: string, first: ChildProgram): Promise<ChildProgram> => {
  const child = holder(folder);
  expect(await child.nextMessage()).toBe(
    `Another command (process ${first.pid}) is preparing the embedded server of this folder: waiting for it.`,
  );
  return child;
};

test('a command that is stopped or asleep keeps its lock, however long ago it took it', async () => {
  const folder = await freshFolder();
  const first = await inTheLock(folder);
  process.kill(first.pid, 'SIGSTOP');
  await utimes(join(folder, 'commands.lock'), 0, 0);
  const second = await waiting(folder, first);

  process.kill(first.pid, 'SIGCONT');
  first.tell('leave');
  expect(await first.nextMessage()).toBe('out');
  expect(await second.nextMessage()).toBe('in');
});

test('the lock of a killed command is free at once', async () => {
  const folder = await freshFolder();
  const first = await inTheLock(folder);
  const second = await waiting(folder, first);
  await first.kill();
  expect(await second.nextMessage()).toBe('in');
});

import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { enterFolder, liveUsers } from '../../src/local/lease';
import { processMark } from '../../src/local/processes';
import { runChild } from '../../examples/learn/support/programs';
import { freshFolder } from './fresh-folder';

test('a process is a user of a folder from entering to leaving, once for each entry', async () => {
  const folder = await freshFolder();
  const leave = await enterFolder(folder, true);
  const leaveAgain = await enterFolder(folder, false);
  expect((await liveUsers(folder)).map(({ stays }) => stays).sort()).toEqual([false, true]);
  await leave();
  expect(await liveUsers(folder)).toMatchObject([{ pid: process.pid, stays: false }]);
  await leaveAgain();
  expect(await liveUsers(folder)).toEqual([]);
});

test('the dead do not count, not even when their process number lives again, and are cleared away', async () => {
  const folder = await freshFolder();
  await mkdir(join(folder, 'users'));
  const reused = { pid: process.pid, mark: 'an earlier life of this number', stays: true };
  await writeFile(join(folder, 'users', 'reused'), JSON.stringify(reused));
  await writeFile(join(folder, 'users', 'cut'), '{"pid": 12');
  expect(await liveUsers(folder)).toEqual([]);
  expect(await readdir(join(folder, 'users'))).toEqual([]);
});

test('a mark is the same as long as a process lives, and gone with it', async () => {
  const child = runChild(join(__dirname, 'programs', 'wait-for-line.ts'), [], process.env);
  await child.nextMessage();
  const mark = await processMark(child.pid);
  expect(mark).not.toBeNull();
  expect(await processMark(child.pid)).toBe(mark);
  await child.kill();
  expect(await processMark(child.pid)).toBeNull();
});

import { copyFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { claimDatabase, databasePath, isOwnDatabase } from '../../src/local/own-database';
import { freshFolder } from './fresh-folder';

const said: string[] = [];
const isOwn = (folder: string): Promise<boolean> => isOwnDatabase(folder, (line) => said.push(line));

test('a database is identified by its folder and its file, even if the first command was killed', async () => {
  const folder = await freshFolder();
  const database = databasePath(folder);
  // Before the database exists, and when the first command was killed before it recorded the inode.
  expect(await isOwn(folder)).toBe(true);
  await writeFile(database, 'runs');
  expect(await isOwn(folder)).toBe(true);

  // Another file replaces it.
  await copyFile(database, `${database}.theirs`);
  await rename(`${database}.theirs`, database);
  expect(await isOwn(folder)).toBe(false);
  await claimDatabase(folder, () => undefined);
  expect(await isOwn(folder)).toBe(true);

  await rename(folder, `${folder}-moved`);
  expect(await isOwn(`${folder}-moved`)).toBe(true);
  await rename(`${folder}-moved`, folder);
  expect(said).toEqual([]);
});

test.each(['', 'f47ac10b-58cc-4372-a567-0e02b2c3d479', '../trust', 'x'.repeat(100_000)])(
  'a database that comes with a folder id %.40j is not taken for our own',
  async (id) => {
    const folder = await freshFolder();
    await writeFile(databasePath(folder), 'runs');
    await writeFile(join(folder, 'id'), id);
    expect(await isOwn(folder)).toBe(false);
    await rm(join(folder, 'id'));
    expect(await isOwn(folder)).toBe(false);
  },
);

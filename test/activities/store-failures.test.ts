import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ApplicationFailure } from '@temporalio/activity';
import { asFailure } from '../../src/activities/as-failure';
import { SqliteStore } from '../../src/store/sqlite-store';
import { freshFolder } from '../local/fresh-folder';

test('a store failure has its own type, and is retryable', async () => {
  const folder = await freshFolder();
  await writeFile(join(folder, 'file'), 'a file where a folder belongs');
  const store = new SqliteStore(join(folder, 'file', 'store.db'));
  const failing = asFailure(() => store.write('texts/ab/cd.txt', Buffer.from('x')));
  await expect(failing).rejects.toThrow(ApplicationFailure);
  await expect(failing).rejects.toMatchObject({ type: 'Store.Unavailable', nonRetryable: false });
  await expect(failing).rejects.toThrow(/ENOTDIR|EEXIST/);
});

test('a programming error is passed on unchanged', async () => {
  const mistake = new TypeError('x is not a function');
  await expect(asFailure(() => Promise.reject(mistake))).rejects.toBe(mistake);
});

import { writeFile, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ApplicationFailure } from '@temporalio/activity';
import { asFailure } from '../../src/activities/as-failure';
import { SqliteStore } from '../../src/store/sqlite-store';

test('what a store cannot do has a type of its own, and is tried again', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'store-'));
  await writeFile(join(folder, 'file'), 'a file where a folder belongs');
  const store = new SqliteStore(join(folder, 'file', 'store.db'));
  const failure: unknown = await asFailure(() => store.write('texts/ab/cd.txt', Buffer.from('x'))).catch(
    (error: unknown) => error,
  );
  expect(failure).toBeInstanceOf(ApplicationFailure);
  expect(failure).toMatchObject({ type: 'Store.Unavailable', nonRetryable: false });
  expect((failure as ApplicationFailure).message).toMatch(/ENOTDIR|EEXIST/);
});

test('a mistake in the program keeps its own name', async () => {
  const mistake = new TypeError('x is not a function');
  await expect(asFailure(() => Promise.reject(mistake))).rejects.toBe(mistake);
});

import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { checkStore } from '../../../src/store/open-store';
import { freshFolder } from '../../local/fresh-folder';
import { startS3Server } from '../../support/s3-server';

test('checks whether a bucket exists', async () => {
  const folder = await freshFolder();
  await mkdir(join(folder, 'bucket'));
  const server = await startS3Server(folder);
  Object.assign(process.env, server.env);

  const store = 's3://bucket/prefix';
  await checkStore(store);
  await rm(join(folder, 'bucket'), { recursive: true });
  await expect(checkStore(store)).rejects.toThrow(/bucket of s3:\/\/bucket\/prefix does not exist/);
  await server.close();
});

test('a new database needs only a folder that can hold it; an existing one is opened', async () => {
  const folder = await freshFolder();
  await checkStore(`sqlite:${folder}/new/store.db`);
  expect(await readdir(folder)).toEqual([]);
  await writeFile(join(folder, 'store.db'), 'something else altogether, and long enough to be looked at');
  await expect(checkStore(`sqlite:${folder}/store.db`)).rejects.toThrow('not a SQLite database');
  await expect(checkStore(`sqlite:${folder}/store.db/new/store.db`)).rejects.toThrow(
    `cannot create a store in ${folder}/store.db, which is not a folder: change "store"`,
  );
});

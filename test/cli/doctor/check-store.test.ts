import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkStore } from '../../../src/store/open-store';
import { startS3Server } from '../../support/s3-server';

test('a bucket is asked whether it is there', async () => {
  const folder = await mkdtemp(join(tmpdir(), 's3-'));
  await mkdir(join(folder, 'bucket'));
  const server = await startS3Server(folder);
  Object.assign(process.env, server.env);

  const store = 's3://bucket/prefix';
  await checkStore(store);
  await rm(join(folder, 'bucket'), { recursive: true });
  await expect(checkStore(store)).rejects.toThrow(/bucket of s3:\/\/bucket\/prefix does not exist/);
  await server.close();
});

import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkStore } from '../../../src/cli/commands/doctor';
import { startS3Server } from '../../support/s3-server';

test('a bucket is asked whether it is there', async () => {
  const folder = await mkdtemp(join(tmpdir(), 's3-'));
  await mkdir(join(folder, 'bucket'));
  const server = await startS3Server(folder);
  Object.assign(process.env, server.env);

  const store = 's3://bucket/prefix';
  expect(await checkStore({ store })).toEqual({ what: 'Store', state: 'fine', text: `${store} answers` });
  await rm(join(folder, 'bucket'), { recursive: true });
  expect(await checkStore({ store })).toMatchObject({
    state: 'broken',
    text: expect.stringMatching(/bucket of s3:\/\/bucket\/prefix does not exist/) as string,
  });
  await server.close();
});

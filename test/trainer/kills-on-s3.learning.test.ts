import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { SAME } from '../../research/kills/main';
import { startS3Server } from '../support/s3-server';
import { freshFolder } from '../local/fresh-folder';
import { playKilledNight } from './support/killed-night';

test('a night in a bucket whose processes are killed ends with the same weights, and buys no answer twice', async () => {
  const folder = await freshFolder();
  await mkdir(join(folder, 'bucket'));
  const bucket = await startS3Server(folder);
  Object.assign(process.env, bucket.env);
  try {
    const { disturbed, difference } = await playKilledNight(8, 's3://bucket/nights');
    expect(disturbed.progress).toMatchObject({ status: 'done', done: 3 });
    expect(difference).toEqual(SAME);
  } finally {
    await bucket.close();
  }
}, 1_200_000);

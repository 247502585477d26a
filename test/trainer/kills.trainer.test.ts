import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { compareNights, drawKills, LESSON, SAME, SHARE_WITH_KILLS } from '../../research/kills/main';
import { type NightFacts, playNight } from '../../research/kills/night';
import { type S3Server, startS3Server } from '../support/s3-server';
import { freshFolder } from '../local/fresh-folder';

const bundle = String(process.env.TEST_WORKFLOW_BUNDLE);

let undisturbed: NightFacts;
let folder: string;
let bucket: S3Server;
beforeAll(async () => {
  undisturbed = await playNight(LESSON, bundle, []);
  folder = await freshFolder();
  await mkdir(join(folder, 'bucket'));
  bucket = await startS3Server(folder);
}, 600_000);
afterAll(async () => {
  await bucket.close();
});

test.each([
  [undefined, 7],
  ['s3://bucket/nights', 8],
])(
  'a night whose processes are killed ends with the same weights, and buys no answer twice; store %s',
  async (store, seed) => {
    Object.assign(process.env, bucket.env);
    const requests = Math.floor(undisturbed.requests.length * SHARE_WITH_KILLS);
    const disturbed = await playNight(LESSON, bundle, drawKills(seed, 5, requests), store);

    expect(undisturbed.cycles.map(({ weightsSha256 }) => weightsSha256)).not.toContain(null);
    expect(disturbed.progress).toMatchObject({ status: 'done', done: 3 });
    expect(compareNights(undisturbed, disturbed)).toEqual(SAME);
  },
  600_000,
);

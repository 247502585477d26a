import { setTimeout as pause } from 'node:timers/promises';
import type { TemporalServer } from '../../../src/local/configured-server';
import { embeddedServer } from '../../../src/local/embedded-server';
import { scheduleNights } from '../../../src/training/client';
import { scheduleIdOf } from '../../../src/training/names';
import { freshFolder } from '../../local/fresh-folder';
import { until } from '../../support/until';
import { NightWatch, openNightStage } from './night-stage';

/** Time in which the server has to be there again; in production it is an hour, and nights are a day apart. */
const CATCHUP_MS = 20_000;

/** Times at which nights are due, in seconds after the schedule's creation; all fall into the outage. */
const LONG_AGO = [12, 13, 14];
const LATELY = [36, 38];
const OUTAGE_ENDS = 39;

test('after an outage, nights outside the catch-up window are skipped, and only one of the others runs', async () => {
  const folder = await freshFolder();
  const attach = (): Promise<TemporalServer> => embeddedServer({ folder, say: () => undefined });
  const before = await attach();
  const first = await openNightStage(before.address);
  const createdAt = Math.ceil(Date.now() / 1000);
  const due = [...LONG_AGO, ...LATELY].map((seconds) => new Date((createdAt + seconds) * 1000));
  const seconds = due.map((time) => time.getUTCSeconds()).join(',');
  const request = { ...first.request, cron: `${seconds} * * * * * *`, catchupMs: CATCHUP_MS };
  await scheduleNights(first.temporal.client, request);
  await first.temporal.close();
  await before.stop();
  // The outage lasts until then.
  await pause((createdAt + OUTAGE_ENDS) * 1000 - Date.now());

  const after = await attach();
  const stage = await openNightStage(after.address, request.taskQueue);
  const watch = new NightWatch();
  const release = watch.hold();
  const schedule = stage.temporal.client.schedule.getHandle(scheduleIdOf(request.trainRun));
  try {
    await stage.whileWorking(watch.spendNight, async () => {
      await watch.saw(1);
      const { info } = await until(
        () => schedule.describe(),
        ({ info: { numActionsSkippedOverlap } }) => numActionsSkippedOverlap === 1,
      );
      expect(info.numActionsMissedCatchupWindow).toBe(LONG_AGO.length);
      expect(info.recentActions.map(({ scheduledAt }) => scheduledAt)).toEqual([due[LONG_AGO.length]]);
      expect(watch.nights).toHaveLength(1);
      release();
    });
  } finally {
    await stage.temporal.close();
    await after.stop();
  }
}, 120_000);

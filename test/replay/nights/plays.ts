import type { WorkflowHandle } from '@temporalio/client';
import { parseTrainable, resolveTraining, trainingOf } from '../../../src/training/config';
import { askForWarmStart, beginExport, beginWarmStart } from '../../../src/training/client';
import { scheduleNights } from '../../../src/training';
import { scheduleIdOf } from '../../../src/training/names';
import { LESSON, REPLIES, type ScriptedTraining } from '../../support/scripted-training';
import { until } from '../../support/until';

/** Plays a scenario on a stage, and returns the workflow whose history is recorded when it ends. */
export type Play = (stage: ScriptedTraining) => Promise<WorkflowHandle>;

/** Training run of all plays; ids of child workflows derive from it. */
export const TRAIN_RUN = 'shape';

export const night: Play = async (stage) => {
  const { id, runId } = await stage.training.start({ trainRun: TRAIN_RUN, date: '2026-01-10' });
  return stage.temporal.client.workflow.getHandle(id, runId);
};

export const nightWithoutPlans: Play = (stage) => {
  stage.policy.script(REPLIES.none);
  return night(stage);
};

/** A night that gets a message while its first cycle is under way. */
export function nightThatHears(say: Play | ((stage: ScriptedTraining) => Promise<unknown>)): Play {
  return async (stage) => {
    const letGo = stage.providers.hold('a');
    const heard = await night(stage);
    await stage.providers.waitForRequest(({ model }) => model === 'a');
    await say(stage);
    letGo();
    return heard;
  };
}

/** A night for which another history is recorded: that of a child, or of the run it continued in. */
export function nightFor(workflowId: string): Play {
  return async (stage) => {
    await (await night(stage)).result();
    return stage.temporal.client.workflow.getHandle(workflowId);
  };
}

/** A night that a schedule starts at once. */
export const scheduledNight: Play = async ({ temporal: { client }, taskQueue }) => {
  const request = { trainRun: TRAIN_RUN, taskQueue, timeZone: 'UTC', jitterMs: 0, timeLimitMs: 60_000 };
  await scheduleNights(client, { ...request, cron: '0 0 1 1 *' });
  const schedule = client.schedule.getHandle(scheduleIdOf(TRAIN_RUN));
  await schedule.trigger();
  const { info } = await until(
    () => schedule.describe(),
    ({ info: { recentActions } }) => recentActions.length > 0,
  );
  await schedule.delete();
  return client.workflow.getHandle(info.recentActions[0]?.action.workflow.workflowId ?? '');
};

export const warmStart: Play = async ({ config, store, temporal: { client }, taskQueue }) => {
  const checked = parseTrainable(config);
  const settings = resolveTraining(checked, { trainRun: TRAIN_RUN });
  const asked = await askForWarmStart(store, trainingOf(checked).base, LESSON, settings);
  return beginWarmStart({ client, taskQueue }, { ...asked, settings });
};

export const exportCheckpoint: Play = ({ temporal: { client }, taskQueue, trainerQueue }) =>
  beginExport(
    { client, taskQueue },
    {
      checkpoint: { trainRun: TRAIN_RUN, name: '000001' },
      directory: '/exports/shape',
      taskQueue: trainerQueue,
      heartbeatMs: 1_000,
      timeoutMs: 60_000,
    },
  );

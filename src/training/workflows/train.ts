import { allHandlersFinished, condition, continueAsNew, workflowInfo } from '@temporalio/workflow';
import type { OpenedNight } from '../contract';
import type { TrainInput } from '../input';
import { CLOSE_NIGHT, OPEN_NIGHT } from '../names';
import { nightDate } from '../night-ids';
import type { NightProgress } from '../progress';
import { storeActivities } from './activities';
import { collectCheckpoints } from './clear-away';
import { firstCheckpoint, judge, runCycle } from './loop';
import { listen } from './messages';
import { beginNight, Night, NightControl } from './night';

/**
 * Workflow `train`: one night of training. It claims its cycles, plays and learns them one after the other, and lets what
 * came of it serve if the gate finds it better than what serves.
 *
 * A night that was interrupted goes on with the cycles that it had claimed, and one that was trained to its end is not
 * trained again, whoever starts it.
 *
 * @throws ApplicationFailure of a `Trainer.*`, `Policy.*` or `Configuration.*` type: the schedule pauses then, and what
 *   served goes on serving
 */
export async function train(input: TrainInput): Promise<NightProgress> {
  const orders = new NightControl(input.carried?.isPaused);
  const progress = listen(orders, dateOf(input));
  const night = await openNight(input, orders);
  progress.follow(night);
  if (!night.opened.isTrained) await runNight(night, input);
  night.isOver = true;
  await condition(allHandlersFinished);
  return night.progress();
}

async function openNight(input: TrainInput, orders: NightControl): Promise<Night> {
  if (input.carried !== undefined) return new Night(input.carried, orders);
  const { trainRun, cycles, from } = input;
  const opened: OpenedNight = await storeActivities('open the night')[OPEN_NIGHT]({
    date: dateOf(input),
    trainRun,
    cycles,
    from,
  });
  const checkpoint = opened.isTrained && opened.from !== null ? opened.from : await firstCheckpoint(opened);
  return beginNight(opened, checkpoint, orders);
}

async function runNight(night: Night, input: TrainInput): Promise<void> {
  for (;;) {
    await night.orders.whenResumed();
    if (night.reasonToEnd() !== null) break;
    if (workflowInfo().continueAsNewSuggested) await goOnInNewRun(night, input);
    await runCycle(night, night.done + 1);
  }
  night.phase = 'gate';
  const decision = await judge(night);
  const { settings, night: claimed } = night.opened;
  await storeActivities('close the night')[CLOSE_NIGHT]({
    trainRun: settings.trainRun,
    date: claimed.date,
    done: night.done,
    checkpoint: night.checkpoint,
    decision,
  });
  night.phase = 'clearing away';
  await collectCheckpoints(night);
}

async function goOnInNewRun(night: Night, input: TrainInput): Promise<never> {
  await condition(allHandlersFinished);
  return continueAsNew<typeof train>({ ...input, carried: night.toCarry() });
}

/** A night that nobody gave a date is of the day on which it began. */
function dateOf({ date, timeZone = 'UTC' }: TrainInput): string {
  return date ?? nightDate(workflowInfo().startTime, timeZone);
}

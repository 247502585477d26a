import {
  allHandlersFinished,
  ApplicationFailure,
  condition,
  patched,
  workflowInfo,
} from '@temporalio/workflow';
import { moveOn, shouldMoveOn } from '../../evaluation/workflows/parts';
import { FAILURES } from '../../protocol/failures';
import type { NightProgress, TrainInput } from '../contract';
import * as names from '../names';
import { checkpointId, nightDate } from '../names';
import { cycleTimes, Stopwatch } from '../summarize-cycle';
import { requireValidInput, trainingStoreActivities } from './activities';
import * as checkpoints from './checkpoints';
import { runGate, tryOnHeldOut } from './gate';
import { learn } from './learn';
import { handleNightMessages, NightControl } from './messages';
import { Night } from './night';
import { type CycleRollouts, requirePlans, Rollouts } from './rollouts';

/*
 * The learning loop, from top to bottom. A night claims its cycles; each cycle
 *
 * 1. draws questions, and for each a team of workers;
 * 2. samples several plans of each question from the policy, carries them out and grades their answers: a group, which
 *    is a child workflow in `group.ts`;
 * 3. has the trainer update the policy from groups whose rewards differ, or by imitation of right plans, in `learn.ts`;
 * 4. publishes the new checkpoint to the policy server, from which the next cycle samples.
 *
 * With `staleness: 1`, step 2 of the next cycle runs in parallel with step 3 and samples from the previous checkpoint.
 * After the last cycle, the gate decides whether the new checkpoint serves.
 */

/**
 * Workflow `conductorTrain`: one night of training; an interrupted one continues with its claimed cycles.
 * @throws ApplicationFailure, which pauses the schedule; what serves stays
 */
export async function conductorTrain(input: TrainInput): Promise<NightProgress> {
  const control = new NightControl();
  handleNightMessages(control);
  await requireValidInput({ workflow: names.TRAIN_WORKFLOW, input });
  const night = await openNight(input, control);
  if (!night.state.opened.isTrained) {
    if (input.carried === undefined) await requirePlans(night);
    await train(night, input);
    await closeNight(night);
  }
  night.isOver = true;
  await condition(allHandlersFinished);
  return night.progress();
}

async function openNight(input: TrainInput, control: NightControl): Promise<Night> {
  const { startTime, continuedFromExecutionRunId } = workflowInfo();
  const { carried, trainRun, cycles, from, config } = input;
  if (carried !== undefined) {
    if (continuedFromExecutionRunId !== undefined) return new Night(carried, control);
    throw ApplicationFailure.nonRetryable(
      '"carried" is for a night that goes on: leave it out',
      FAILURES.badInput,
    );
  }
  const date = input.date ?? nightDate(startTime, input.timeZone ?? 'UTC');
  control.date = date;
  const opening = trainingStoreActivities('open the night');
  const opened = await opening[names.OPEN_NIGHT]({ date, trainRun, cycles, from, config });
  const begun = await checkpoints.firstCheckpoint(opened);
  const night = Night.begin(opened, begun, control);
  if (!opened.isTrained) night.leaveOut(await checkpoints.requireTrainer(opened, begun));
  return night;
}

async function train(night: Night, input: TrainInput): Promise<void> {
  const rollouts = new Rollouts(night);
  try {
    for (;;) {
      await night.control.whenResumed();
      // Rollouts that were begun ahead are learned from before the night may end.
      if (!rollouts.areAhead) {
        if (night.mustEnd()) return;
        if (shouldMoveOn()) {
          await condition(allHandlersFinished);
          return await moveOn<typeof conductorTrain>({ ...input, carried: night.toCarry() });
        }
      }
      await runCycle(night, night.state.done + 1, rollouts);
    }
  } finally {
    await rollouts.drop();
  }
}

async function closeNight(night: Night): Promise<void> {
  const { decision, next } = await runGate(night);
  const { done, checkpoint, opened } = night.state;
  const { trainRun } = opened.settings;
  const { date } = opened.night;
  const closing = trainingStoreActivities('close the night');
  await closing[names.CLOSE_NIGHT]({ trainRun, date, done, checkpoint, next, decision });
  night.phase = 'clearing away';
  await checkpoints.collectCheckpoints(night);
}

async function runCycle(night: Night, cycle: number, rollouts: Rollouts): Promise<void> {
  const startedAt = Date.now();
  night.phase = 'rollouts';
  const played = await rollouts.of(cycle);
  const reason = whyStalled(night, cycle, played);
  if (reason !== null) throw ApplicationFailure.nonRetryable(reason, names.CANNOT_LEARN);
  const watch = new Stopwatch<'update' | 'publish'>();
  const learned = await learn(night, cycle, played, rollouts, watch);
  const checkpoint = learned === null ? night.state.checkpoint : checkpoints.refOf(learned.checkpoint);
  // Runs in parallel with the figures, which take as long; a night that ends here waits for it, too.
  const cleared = learned === null ? null : checkpoints.retireCheckpoints(night, checkpoint, learned.served);
  try {
    const heldOut = await tryOnHeldOut(night, cycle, checkpoint);
    const spans = [...played.groups.flatMap((group) => group.spans), ...watch.spans];
    night.phase = 'figures';
    const { night: claimed, settings } = night.state.opened;
    const metrics = await trainingStoreActivities(`figures of cycle ${cycle}`)[names.CLOSE_CYCLE]({
      night: claimed.date,
      cycle,
      checkpoint,
      writer: night.nextWriter,
      weightsSha256: learned?.checkpoint.weightsSha256 ?? null,
      settings,
      groups: played.groups.flatMap(({ rounds }) => rounds.map(({ key }) => key)),
      dropped: played.dropped,
      update: learned?.update ?? null,
      imitation: learned?.imitation ?? null,
      times: cycleTimes(spans, startedAt, Date.now()),
      heldOut,
      hours: { cycle, startedAt, parts: watch.spans, traceparent: night.traceparentOf(cycle) },
    });
    night.advance(checkpoint, metrics);
  } finally {
    await cleared;
  }
}

/** Change: a cycle of which nothing is graded ends the night. Written into histories: never rename it. */
const GRADED = 'graded-cycles';

/** Explains why nothing can be learned from a cycle, which then does not count; null if something may be. */
function whyStalled({ state }: Night, cycle: number, { groups, writer }: CycleRollouts): string | null {
  const { unparseable, parseable } = state.opened.settings.reward;
  const rewards = groups.flatMap(({ rounds }) => rounds).flatMap((round) => round.rewards);
  const graded = rewards.filter((reward) => reward !== null);
  if (graded.some((reward) => reward !== unparseable)) return null;
  if (graded.length < rewards.length) {
    // A limit cuts answers short; others without a grade may have been right.
    const isExplained = graded.length > 0 || groups.some(({ stoppedBy }) => stoppedBy !== null);
    if (isExplained || !patched(GRADED)) return null;
    return (
      `nothing can be learned from cycle ${cycle}: none of its ${rewards.length} answers could be graded. ` +
      `"temporal-conductor train show ${cycle}" says why; correct the grader, or what its models need, and start the ` +
      'night again'
    );
  }
  const what = unparseable < parseable ? 'was a plan' : 'led to a right answer';
  return (
    `nothing can be learned from cycle ${cycle}: none of the ${rewards.length} replies of ` +
    `${checkpointId(writer)} ${what}. "temporal-conductor train show ${cycle}" shows them; give it examples to ` +
    'begin with: "temporal-conductor train examples --from-prompted", then "temporal-conductor train warm-start"'
  );
}

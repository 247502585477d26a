import {
  allHandlersFinished,
  ApplicationFailure,
  CancellationScope,
  condition,
  continueAsNew,
  patched,
  workflowInfo,
} from '@temporalio/workflow';
import { checkpointId, type CheckpointRef } from '../checkpoint-ref';
import type {
  GroupResult,
  KeptCheckpoint,
  NamedPlaces,
  OpenedNight,
  TrainInput,
  WarmStartInput,
} from '../contract';
import { chooseGroups, drawQuestions, drawWorkers } from '../draw';
import * as names from '../names';
import { nightDate } from '../night-ids';
import type { NightProgress } from '../progress';
import { hasSpread } from '../reward';
import type { TrainingSettings } from '../settings';
import { cycleTimes } from '../summarize-cycle';
import type { Checkpoint, UpdateMetrics } from '../trainer-contract';
import {
  checkNamed,
  storeActivities,
  trainerActivities,
  type TrainerCallOptions,
  trainerOptions,
} from './activities';
import { collectCheckpoints, retireCheckpoints } from './checkpoints';
import { judge, TOLERANCE_BEFORE, tryOnHeldOut } from './gate';
import { checkNight, checkWarmStart } from './input';
import { listen } from './messages';
import { Night, NightControl, Stopwatch } from './night';
import { type GroupOptions, startGroup } from './start-group';

/*
 * The learning loop, from top to bottom. A night claims its cycles; each cycle
 *
 * 1. draws questions, and for each a team of workers;
 * 2. has the policy sampled for several plans of each question, the plans played and their answers judged: a group, a
 *    child workflow in `group.ts`;
 * 3. has the trainer update the policy from the groups whose rewards differ;
 * 4. publishes the new checkpoint to the policy server, from which the next cycle samples.
 *
 * After the last cycle, the gate decides whether what was learned serves.
 */

/**
 * Workflow `conductorTrain`: one night of training.
 *
 * An interrupted night goes on with the cycles that it had claimed. One that was trained to its end is not trained again.
 *
 * @throws ApplicationFailure of a `Trainer.*`, `Policy.*` or `Configuration.*` type, or `Night.CannotLearn`: the schedule
 *   pauses, and what serves stays
 */
export async function conductorTrain(input: TrainInput): Promise<NightProgress> {
  checkNight(names.TRAIN_WORKFLOW, input);
  const date = input.date ?? nightDate(workflowInfo().startTime, input.timeZone ?? 'UTC');
  const control = new NightControl(input.carried?.isPaused);
  listen(control, date);
  const night = await openNight(input, date, control);
  if (!night.state.opened.isTrained) {
    await train(night, input);
    await closeNight(night);
  }
  night.isOver = true;
  await condition(allHandlersFinished);
  return night.progress();
}

async function openNight(input: TrainInput, date: string, control: NightControl): Promise<Night> {
  const { carried, trainRun, cycles, from, config } = input;
  if (carried !== undefined) {
    await checkNamed(placesIn(carried.opened));
    return new Night(carried, control);
  }
  const request = { date, trainRun, cycles, from, config };
  const opened = await storeActivities('open the night')[names.OPEN_NIGHT](request);
  const begun = await firstCheckpoint(opened);
  if (!opened.isTrained && patched('memory-is-reckoned-first')) await requireMemory(opened.settings, begun);
  return Night.begin(opened, begun, control);
}

/** Has the trainer reckon whether its updates will fit into memory, policy servers beside it included. */
async function requireMemory(settings: TrainingSettings, checkpoint: CheckpointRef): Promise<void> {
  const options = trainerOptions(settings, settings.budget.wallClockMs);
  const { taskQueue: _, ...config } = settings.trainer;
  await trainerActivities('is there memory?', options)[names.PREFLIGHT]({ checkpoint, config });
}

async function train(night: Night, input: TrainInput): Promise<void> {
  for (;;) {
    await night.control.whenResumed();
    if (night.mustEnd()) return;
    if (workflowInfo().continueAsNewSuggested) {
      await condition(allHandlersFinished);
      return continueAsNew<typeof conductorTrain>({ ...input, carried: night.toCarry() });
    }
    await runCycle(night, night.state.done + 1);
  }
}

async function closeNight(night: Night): Promise<void> {
  const { decision, next } = await judge(night);
  const { done, checkpoint, opened } = night.state;
  await storeActivities('close the night')[names.CLOSE_NIGHT]({
    trainRun: opened.settings.trainRun,
    date: opened.night.date,
    done,
    checkpoint,
    next,
    decision,
  });
  night.phase = 'clearing away';
  await collectCheckpoints(night);
}

/** A cycle in which no group had a spread leaves the checkpoint as it is. */
async function runCycle(night: Night, cycle: number): Promise<void> {
  const startedAt = Date.now();
  const { night: claimed, settings } = night.state.opened;
  night.phase = 'rollouts';
  const { groups, learnable, dropped } = await playGroups(night, cycle);
  const hopeless = whyHopeless(night, cycle, groups);
  if (hopeless !== null && patched('a-night-that-cannot-learn-ends')) {
    throw ApplicationFailure.nonRetryable(hopeless, names.CANNOT_LEARN);
  }
  night.phase = 'update';
  const watch = new Stopwatch<'update' | 'publish'>();
  const learned = learnable.length === 0 ? null : await learn(night, cycle, learnable, watch);
  const checkpoint = learned === null ? night.state.checkpoint : refOf(learned.checkpoint);
  // Beside the figures, which take as long; also a night that ends here waits for it.
  const cleared = learned === null ? null : retireCheckpoints(night, checkpoint, learned.served);
  try {
    const heldOut = await tryOnHeldOut(night, cycle, checkpoint);
    const spans = [...groups.flatMap((group) => group.spans), ...watch.spans];
    night.phase = 'figures';
    const metrics = await storeActivities(`figures of cycle ${cycle}`)[names.CLOSE_CYCLE]({
      night: claimed.date,
      cycle,
      checkpoint,
      weightsSha256: learned?.checkpoint.weightsSha256 ?? null,
      settings,
      groups: groups.flatMap(({ rounds }) => rounds.map(({ key }) => key)),
      dropped,
      update: learned?.metrics ?? null,
      times: cycleTimes(spans, Date.now() - startedAt),
      heldOut,
    });
    night.advance(checkpoint, metrics);
  } finally {
    await cleared;
  }
}

/**
 * Draws questions and plays their groups until enough have a spread, `maxDraws` is reached or the money is used up. What
 * is drawn depends on the seed and on the groups' results, and while there is money, never on which was done first.
 *
 * @throws ChildWorkflowFailure when a group failed, after the others were stopped
 */
function playGroups(night: Night, cycle: number): Promise<ReturnType<typeof sumUp>> {
  const { questions: wanted, maxDraws } = night.state.opened.settings;
  return CancellationScope.cancellable(async () => {
    const drawn: (GroupResult | null)[] = [];
    const underWay = new Set<Promise<void>>();
    try {
      for (;;) {
        const spreads = drawn.map((group) => group && learnableIn(group).length > 0);
        const { keep, more, isOver } = chooseGroups({ wanted, maxDraws, spreads });
        for (const options of isOver ? [] : drawGroups(night, cycle, drawn.length, more)) {
          const group = startGroup(night, options, wanted);
          if (group === null) break;
          drawn.push(null);
          const played = group.then((result) => {
            drawn[options.draw] = result;
            underWay.delete(played);
          });
          underWay.add(played);
        }
        // Also where the money is used up.
        if (underWay.size === 0) return sumUp(drawn, keep);
        await Promise.race(underWay);
      }
    } catch (error) {
      CancellationScope.current().cancel();
      await CancellationScope.nonCancellable(() => Promise.allSettled(underWay));
      throw error;
    }
  });
}

function drawGroups(night: Night, cycle: number, from: number, more: number): GroupOptions[] {
  const { settings, train } = night.state.opened;
  const { seed, questions, pool, run } = settings;
  const drawn = drawQuestions({ seed, count: train.count, questions, cycle }, from + more).slice(from);
  return drawn.map((index, place) => {
    const draw = from + place;
    return {
      purpose: 'training',
      cycle,
      draw,
      question: { set: train.set, index },
      writer: night.state.checkpoint,
      workers: drawWorkers(run.workers, { seed, cycle, draw, pool }),
    };
  });
}

/** The groups of a cycle by draw, the store keys of the rounds to learn from, and how many groups taught nothing. */
function sumUp(
  drawn: readonly (GroupResult | null)[],
  keep: readonly number[],
): { groups: readonly GroupResult[]; learnable: readonly string[]; dropped: number } {
  const groups = drawn.filter((group) => group !== null);
  return {
    groups,
    learnable: groups.filter(({ draw }) => keep.includes(draw)).flatMap(learnableIn),
    dropped: groups.length - keep.length,
  };
}

function learnableIn({ rounds }: GroupResult): readonly string[] {
  return rounds.filter(({ rewards }) => hasSpread(rewards)).map(({ key }) => key);
}

/**
 * Why the policy will earn nothing in the next cycle either, in a sentence; null where something was earned, or could not
 * be judged. Such a cycle does not count: once the policy was given examples, the next night trains it.
 */
function whyHopeless({ state }: Night, cycle: number, groups: readonly GroupResult[]): string | null {
  const { unparseable, parseable } = state.opened.settings.reward;
  const rewards = groups.flatMap(({ rounds }) => rounds).flatMap((round) => round.rewards);
  if (rewards.some((reward) => reward !== unparseable)) return null;
  const what = unparseable < parseable ? 'was a plan' : 'led to a right answer';
  return (
    `nothing can be learned from cycle ${cycle}: none of the ${rewards.length} replies of ` +
    `${checkpointId(state.checkpoint)} ${what}. "temporal-conductor train show ${cycle}" shows them; give it examples to ` +
    'begin with: "temporal-conductor train examples --from-prompted", then "temporal-conductor train warm-start"'
  );
}

/** Has the trainer take one step from the night's checkpoint, and the policy server load the result. */
async function learn(
  night: Night,
  cycle: number,
  groups: readonly string[],
  watch: Stopwatch<'update' | 'publish'>,
): Promise<{ checkpoint: Checkpoint; metrics: UpdateMetrics; served: readonly CheckpointRef[] }> {
  const { checkpoint: parent, opened } = night.state;
  const { settings } = opened;
  const { trainRun, policy } = settings;
  const { key, sha256 } = await storeActivities(`batch of cycle ${cycle}`)[names.WRITE_BATCH]({
    trainRun,
    cycle,
    checkpoint: parent,
    temperature: policy.temperature,
    groups,
  });
  const { taskQueue, ...config } = settings.trainer;
  const options = { taskQueue, remainingMs: night.patienceMs(), heartbeatMs: settings.run.heartbeatMs };
  const { checkpoint, metrics } = await watch.time('update', () =>
    trainerActivities(`update of cycle ${cycle}`, options)[names.UPDATE]({
      trainRun,
      cycle,
      parent,
      batch: { key, sha256 },
      config,
    }),
  );
  const { served } = await watch.time('publish', () => publish(settings, checkpoint, options));
  return { checkpoint, metrics, served };
}

/** Has the policy server load a checkpoint, checks its weights there, and keeps how it must be asked. */
async function publish(
  settings: TrainingSettings,
  checkpoint: Checkpoint,
  options: TrainerCallOptions,
): Promise<KeptCheckpoint> {
  const { baseUrl, patienceMs } = settings.policy;
  // The trainer made the checkpoint, so only the policy server may be away.
  const remainingMs = Math.min(options.remainingMs, patienceMs);
  const trainer = trainerActivities(`publish ${checkpoint.name}`, { ...options, remainingMs });
  const { model } = await trainer[names.PUBLISH]({
    checkpoint: refOf(checkpoint),
    servers: [baseUrl],
    tolerance: settings.tolerance?.probe ?? TOLERANCE_BEFORE[settings.trainer.device],
  });
  return storeActivities(`keep ${checkpoint.name}`)[names.KEEP_CHECKPOINT]({ checkpoint, model, settings });
}

function refOf({ trainRun, name }: Checkpoint): CheckpointRef {
  return { trainRun, name };
}

/** The run's last checkpoint, or a first one that the trainer makes of the base model, and of examples if there are any. */
async function firstCheckpoint({
  from,
  init,
  warmStart,
  settings,
}: Pick<OpenedNight, 'from' | 'init' | 'warmStart' | 'settings'>): Promise<CheckpointRef> {
  if (from !== null) return from;
  const options = trainerOptions(settings, settings.budget.wallClockMs);
  let { checkpoint } = await trainerActivities('make the base', options)[names.INIT](init);
  if (warmStart !== null) {
    ({ checkpoint } = await trainerActivities('warm start', options)[names.WARM_START](warmStart));
  }
  await publish(settings, checkpoint, options);
  return refOf(checkpoint);
}

/** Workflow `conductorWarmStart`: makes a first checkpoint of examples, or returns the one made of the same input. */
export async function conductorWarmStart(input: WarmStartInput): Promise<CheckpointRef> {
  checkWarmStart(names.WARM_START_WORKFLOW, input);
  await checkNamed(placesIn(input));
  return firstCheckpoint({ ...input, from: null });
}

function placesIn({ settings, init }: Pick<OpenedNight, 'settings' | 'init'>): NamedPlaces {
  const { policy, trainer } = settings;
  const modelFolder = init.base.kind === 'folder' ? init.base.path : undefined;
  return { policyServer: policy.baseUrl, trainerQueue: trainer.taskQueue, modelFolder };
}

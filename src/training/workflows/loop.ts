import { CancellationScope } from '@temporalio/workflow';
import type { KeptCheckpoint, OpenedNight } from '../contract';
import { chooseGroups, drawQuestions, drawWorkers, type GroupChoice } from '../draw';
import {
  canaryQuestions,
  type CheckpointRef,
  describePolicy,
  type GroupInput,
  type GroupResult,
  type PolicyRef,
} from '../input';
import {
  CLOSE_CYCLE,
  FIND_BASELINE,
  INIT,
  JUDGE_CANARY,
  JUDGE_CANDIDATE,
  KEEP_CHECKPOINT,
  PUBLISH,
  UPDATE,
  WARM_START,
  WRITE_BATCH,
} from '../names';
import { hasSpread } from '../reward';
import type { TrainingSettings } from '../settings';
import { cycleTimes } from '../summarize-cycle';
import type { Checkpoint, UpdateMetrics } from '../trainer-contract';
import { storeActivities, trainerActivities, type TrainerCallOptions } from './activities';
import { retireCheckpoints } from './clear-away';
import { type Night, Stopwatch } from './night';
import { groupInput, heldOutQuestions, runGroup, tryPolicy } from './start-group';

/**
 * One cycle: rollouts, update, publish, and a line of figures. A cycle in which no group had a spread teaches nothing
 * and leaves the checkpoint as it is.
 */
export async function runCycle(night: Night, cycle: number): Promise<void> {
  const begun = Date.now();
  const { night: claimed, settings } = night.opened;
  night.phase = 'rollouts';
  const { groups, learnable, dropped } = await playCycle(night, cycle);
  const watch = new Stopwatch<'update' | 'publish'>();
  night.phase = 'update';
  const learned = learnable.length === 0 ? null : await learn(night, cycle, learnable, watch);
  const checkpoint = learned === null ? night.checkpoint : checkpointOf(learned);
  // Beside the figures, which take as long.
  const cleared = learned === null ? null : retireCheckpoints(night, checkpoint, learned.served);
  const heldOut = await tryOnHeldOut(night, cycle, checkpoint);
  const spans = [...groups.flatMap((group) => group.spans), ...watch.spans];
  night.phase = 'figures';
  const metrics = await storeActivities(`figures of cycle ${cycle}`)[CLOSE_CYCLE]({
    night: claimed.date,
    cycle,
    checkpoint,
    weightsSha256: learned?.checkpoint.weightsSha256 ?? null,
    settings,
    groups: groups.flatMap(({ rounds }) => rounds.map(({ key }) => key)),
    dropped,
    update: learned?.metrics ?? null,
    times: cycleTimes(spans, Date.now() - begun),
    heldOut,
  });
  await cleared;
  night.advance(checkpoint, metrics);
}

function checkpointOf({ checkpoint: { trainRun, name } }: Learned): CheckpointRef {
  return { trainRun, name };
}

/** Mean reward on the held-out questions, in cycles where they are due; else null. */
async function tryOnHeldOut(night: Night, cycle: number, checkpoint: CheckpointRef): Promise<number | null> {
  const { evaluateEvery } = night.opened.settings;
  if (evaluateEvery === null || cycle % evaluateEvery !== 0) return null;
  night.phase = 'held-out questions';
  const { meanReward } = await tryPolicy(night, 'evaluation', checkpoint, cycle, heldOutQuestions(night));
  return meanReward;
}

/** The groups of a cycle in the order of their draws, and what can be learned from. */
export interface PlayedCycle {
  readonly groups: readonly GroupResult[];
  /** Store keys of the rounds to learn from. */
  readonly learnable: readonly string[];
  /** Groups that taught nothing. */
  readonly dropped: number;
}

/**
 * Draws questions and plays their groups until enough have a spread, or as many were drawn as may be.
 *
 * What is drawn depends on the seed and on what the groups came to, never on which of them was done first.
 *
 * @throws ChildWorkflowFailure when a group failed; the others are stopped before that
 */
function playCycle(night: Night, cycle: number): Promise<PlayedCycle> {
  return CancellationScope.cancellable(async () => {
    const groups: (GroupResult | null)[] = [];
    const underWay = new Set<Promise<void>>();
    try {
      for (;;) {
        const choice = choose(night, groups);
        for (const input of inputsOf(night, cycle, groups.length, choice.more)) {
          groups.push(null);
          const played = runGroup(input).then((result) => {
            groups[input.draw] = result;
            underWay.delete(played);
            if (result.stoppedBy === 'cost' && isNightsShare(night, input)) night.runShort();
          });
          underWay.add(played);
        }
        if (choice.isOver) return sumUp(night, groups, choice);
        await Promise.race(underWay);
      }
    } catch (error) {
      CancellationScope.current().cancel();
      await CancellationScope.nonCancellable(() => Promise.allSettled(underWay));
      throw error;
    }
  });
}

function choose(night: Night, groups: readonly (GroupResult | null)[]): GroupChoice {
  const { questions, maxDraws } = night.opened.settings;
  const spreads = groups.map((group) => group && learnableIn(group).length > 0);
  return chooseGroups({ wanted: questions, maxDraws, spreads });
}

/** Whether it is the night that keeps a group from spending more, and not the limit that every group has. */
function isNightsShare({ opened }: Night, { run }: GroupInput): boolean {
  return run.limits.nanoUsd !== opened.settings.run.limits.nanoUsd;
}

/** The rounds of a group whose rewards differ. */
function learnableIn({ rounds }: GroupResult): readonly string[] {
  return rounds.filter(({ rewards }) => hasSpread(rewards)).map(({ key }) => key);
}

function inputsOf(night: Night, cycle: number, from: number, more: number): GroupInput[] {
  const { settings, train } = night.opened;
  const { seed, questions, pool, run } = settings;
  const drawn = drawQuestions({ seed, count: train.count, questions, cycle }, from + more).slice(from);
  return drawn.map((index, place) => {
    const draw = from + place;
    return groupInput(night, {
      purpose: 'training',
      cycle,
      draw,
      question: { set: train.set, index },
      writer: night.checkpoint,
      workers: drawWorkers(run.workers, { seed, cycle, draw, pool }),
      side: questions,
    });
  });
}

function sumUp(night: Night, drawn: readonly (GroupResult | null)[], { keep }: GroupChoice): PlayedCycle {
  const groups = drawn.filter((group) => group !== null);
  for (const { spentNanoUsd } of groups) night.spend(spentNanoUsd);
  return {
    groups,
    learnable: groups.filter(({ draw }) => keep.includes(draw)).flatMap(learnableIn),
    dropped: groups.length - keep.length,
  };
}

/**
 * How far a log-probability on the probe may be off what the trainer says. On a CPU both reckon alike. For a GPU both
 * reckon in bfloat16, which rounds logits of 16 and more to steps of 0.125: on 63 tokens of a tiny model vLLM and
 * transformers were up to 0.25 apart with equal weights, and from 1.1 to 7.7 with those of other checkpoints.
 */
const TOLERANCE = { cpu: 1e-4, cuda: 0.5 } as const;

/** What a cycle's update came to. */
export interface Learned {
  readonly checkpoint: Checkpoint;
  readonly metrics: UpdateMetrics;
  /** What else policy servers are asked for. */
  readonly served: readonly CheckpointRef[];
}

/** Has the trainer take one step from the checkpoint at hand, and the policy server load what came of it. */
async function learn(
  night: Night,
  cycle: number,
  groups: readonly string[],
  watch: Stopwatch<'update' | 'publish'>,
): Promise<Learned> {
  const { settings } = night.opened;
  const { trainRun, policy } = settings;
  const parent = night.checkpoint;
  const { temperature } = policy;
  const batch = await storeActivities(`batch of cycle ${cycle}`)[WRITE_BATCH]({
    trainRun,
    cycle,
    checkpoint: parent,
    temperature,
    groups,
  });
  const { config, patience } = trainerOf(settings, night.patienceMs());
  const { checkpoint, metrics } = await watch.time('update', () =>
    trainerActivities(`update of cycle ${cycle}`, patience)[UPDATE]({
      trainRun,
      cycle,
      parent,
      batch: { key: batch.key, sha256: batch.sha256 },
      config,
    }),
  );
  const { served } = await watch.time('publish', () => publish(settings, checkpoint, patience));
  return { checkpoint, metrics, served };
}

/**
 * The checkpoint that a night begins with: the run's last, or the first that the trainer makes of the base model, warmed
 * up where examples are at hand.
 */
export async function firstCheckpoint({
  from,
  init,
  warmStart,
  settings,
}: Pick<OpenedNight, 'from' | 'init' | 'warmStart' | 'settings'>): Promise<CheckpointRef> {
  if (from !== null) return from;
  const { patience } = trainerOf(settings, settings.budget.wallClockMs);
  const base = await trainerActivities('make the base', patience)[INIT](init);
  const first =
    warmStart === null ? base : await trainerActivities('warm start', patience)[WARM_START](warmStart);
  await publish(settings, first.checkpoint, patience);
  const { trainRun, name } = first.checkpoint;
  return { trainRun, name };
}

/** Has the policy server load a checkpoint, checks that it is the one, and keeps how it must be asked. */
async function publish(
  settings: TrainingSettings,
  checkpoint: Checkpoint,
  patience: TrainerCallOptions,
): Promise<KeptCheckpoint> {
  const { trainRun, name } = checkpoint;
  const { baseUrl, patienceMs } = settings.policy;
  // Whoever made the checkpoint is there; it is the policy server that may be away.
  const remainingMs = Math.min(patience.remainingMs, patienceMs);
  const { model } = await trainerActivities(`publish ${name}`, { ...patience, remainingMs })[PUBLISH]({
    checkpoint: { trainRun, name },
    servers: [baseUrl],
    tolerance: TOLERANCE[settings.trainer.device],
  });
  return storeActivities(`keep ${name}`)[KEEP_CHECKPOINT]({ checkpoint, model, settings });
}

/** How far the policy server's log-probabilities of the night's checkpoint are off the trainer's, and may be. */
async function probe(night: Night): Promise<{ logprobGap: number; tolerance: number }> {
  const { settings } = night.opened;
  const { patience } = trainerOf(settings, night.patienceMs());
  const { logprobGap } = await trainerActivities('probe', patience)[PUBLISH]({
    checkpoint: night.checkpoint,
    servers: [settings.policy.baseUrl],
    // Whatever it is, the canary judges it.
    tolerance: Number.MAX_VALUE,
  });
  return { logprobGap, tolerance: TOLERANCE[settings.trainer.device] };
}

function trainerOf(
  { trainer, run }: TrainingSettings,
  remainingMs: number,
): { config: Omit<TrainingSettings['trainer'], 'taskQueue'>; patience: TrainerCallOptions } {
  const { taskQueue, ...config } = trainer;
  return { config, patience: { taskQueue, remainingMs, heartbeatMs: run.heartbeatMs } };
}

/**
 * The gate at the end of a night: what was learned and what serves answer the held-out questions, and the better one
 * serves from then on. Where that is the new one, some questions are asked once more through the servers that serve it,
 * and it is taken back if it does not answer them as well.
 *
 * @returns what was decided, in a sentence or two; null where nothing is to be judged
 */
export async function judge(night: Night): Promise<string | null> {
  const { checkpoint, begun } = night;
  const baseline = await storeActivities('what serves?')[FIND_BASELINE](begun);
  if (describePolicy(checkpoint) === describePolicy(baseline)) return null;
  if (night.isOutOfMoney()) {
    return `${describePolicy(checkpoint)} was not judged: the money of the night is used up`;
  }
  const questions = heldOutQuestions(night);
  const candidate = await tryPolicy(night, 'evaluation', checkpoint, night.done, questions);
  const serving = await tryPolicy(night, 'evaluation', baseline, night.done, questions);
  const { settings, night: claimed } = night.opened;
  const { promoted, sentence } = await storeActivities('gate')[JUDGE_CANDIDATE]({
    trainRun: settings.trainRun,
    date: claimed.date,
    maxCostRatio: settings.gate.maxCostRatio,
    candidate: candidate.tried,
    baseline: serving.tried,
  });
  return promoted ? `${sentence} ${await watch(night, baseline)}` : sentence;
}

/** Tries what was just promoted, and what it replaced, on a few questions anew, and its weights on the probe. */
async function watch(night: Night, replaced: PolicyRef): Promise<string> {
  const { checkpoint, done, opened } = night;
  const questions = canaryQuestions(opened.heldOut.set, opened.heldOut.count);
  const promoted = await tryPolicy(night, 'canary', checkpoint, done, questions);
  const before = await tryPolicy(night, 'canary', replaced, done, questions);
  const { sentence } = await storeActivities('canary')[JUDGE_CANARY]({
    trainRun: opened.settings.trainRun,
    date: opened.night.date,
    promoted: promoted.tried,
    replaced: before.tried,
    probe: await probe(night),
  });
  return sentence;
}

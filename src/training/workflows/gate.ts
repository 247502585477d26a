import type { QuestionRef } from '../../evaluation/definitions';
import { meanOf } from '../../statistics/statistics';
import { inWindow } from '../../workflows/parts';
import type { CanaryGaps } from '../contract';
import { canaryQuestions, drawTrials } from '../draw';
import * as names from '../names';
import { type CheckpointRef, describePolicy, type PolicyRef, readCheckpointId } from '../names';
import { trainingStoreActivities, trainerActivities } from './activities';
import type { Night } from './night';
import { sleepersOf } from './policy-servers';

/**
 * Runs the gate at the end of a night: its checkpoint and what serves answer the held-out questions. A checkpoint that
 * is promoted is tried once more on the users' server. `next` is where the next night begins, if elsewhere.
 */
export async function runGate(
  night: Night,
): Promise<{ readonly decision: string | null; readonly next: CheckpointRef | null }> {
  night.beginGate();
  const { checkpoint, begun, done, opened } = night.state;
  const baseline = await trainingStoreActivities('what serves?')[names.FIND_BASELINE](begun);
  if (describePolicy(checkpoint) === describePolicy(baseline)) return { decision: null, next: null };
  const questions = heldOutQuestions(night);
  const candidate = await tryPolicy(night, 'evaluation', checkpoint, done, questions);
  if (candidate.isCut) return { decision: describeCut(checkpoint, candidate), next: null };
  const serving = await tryPolicy(night, 'evaluation', baseline, done, questions);
  if (serving.isCut) return { decision: describeCut(checkpoint, serving), next: null };
  const { settings, heldOut } = opened;
  const { promoted, isLoss, sentence } = await trainingStoreActivities('gate')[names.JUDGE_CANDIDATE]({
    trainRun: settings.trainRun,
    date: opened.night.date,
    maxCostRatio: settings.gate.maxCostRatio,
    margin: settings.gate.margin,
    heldOut: heldOut.set,
    looks: looksIn(night),
    candidate: candidate.tried,
    baseline: serving.tried,
  });
  if (promoted) return { decision: `${sentence}. ${await tryPromoted(night, baseline)}`, next: null };
  const next = isLoss ? chooseNext(night, baseline, serving.meanReward) : null;
  const goesOn = next === null ? '' : `. The next night continues from ${describePolicy(next)}`;
  return { decision: sentence + goesOn, next };
}

function describeCut(checkpoint: CheckpointRef, { tried, asked, of }: Trial): string {
  return (
    `${describePolicy(checkpoint)} was not judged: the cost budget of the night is used up, with ` +
    `${describePolicy(tried.policy)} tried on ${asked} of ${of} held-out questions`
  );
}

/**
 * Chooses where the next night begins after one that made its policy worse; null: where this one ended. Neither the
 * prompted Conductor nor another run's checkpoint qualifies, unless this night began with it.
 */
function chooseNext({ state }: Night, baseline: PolicyRef, served: number | null): CheckpointRef | null {
  const { begun, best, opened } = state;
  const { continueFrom, trainRun } = opened.settings;
  if (baseline === 'prompted' || continueFrom === 'last') return null;
  const isOurs = baseline.trainRun === trainRun || describePolicy(baseline) === describePolicy(begun);
  const isBetter = best !== null && best.heldOut > (served ?? -Infinity);
  const own = continueFrom === 'best' && isBetter ? readCheckpointId(best.checkpoint) : null;
  return own ?? (isOurs ? baseline : null);
}

async function tryPromoted(night: Night, baseline: PolicyRef): Promise<string> {
  const { checkpoint, done, opened } = night.state;
  const { settings, heldOut } = opened;
  const questions = canaryQuestions(heldOut.set, heldOut.count);
  const promoted = await tryPolicy(night, 'canary', checkpoint, done, questions);
  const replaced = await tryPolicy(night, 'canary', baseline, done, questions);
  const gaps = await compareServed(night, promoted.tried.groups);
  const { sentence } = await trainingStoreActivities('canary')[names.JUDGE_CANARY]({
    trainRun: settings.trainRun,
    date: opened.night.date,
    promoted: promoted.tried,
    replaced: replaced.tried,
    gaps,
  });
  return sentence;
}

/** Compares the replies of the promoted checkpoint with the trainer's own weights, by log-probabilities. */
async function compareServed(night: Night, groups: readonly string[]): Promise<CanaryGaps | null> {
  if (groups.length === 0) return null;
  const { checkpoint, done: cycle, opened } = night.state;
  const { settings, init } = opened;
  const shared = { checkpoint, cycle, temperature: settings.policy.servingTemperature };
  const { rollouts, ...batch } = await trainingStoreActivities('what the canary wrote')[names.WRITE_BATCH]({
    ...shared,
    trainRun: settings.trainRun,
    groups,
    canary: opened.night.date,
  });
  const trainer = trainerActivities('compare', settings, night.trainerTimeoutMs());
  const { own, parent } = await trainer[names.SCORE]({
    ...{ ...shared, batch, rollouts },
    config: init.config,
    ...sleepersOf(settings),
  });
  return { own, parent, tolerance: settings.tolerance.canary };
}

/** Counts the night's trials by which `continueFrom: best` chooses, those before an interruption included. */
function looksIn({ state }: Night): number {
  const { settings, night } = state.opened;
  const { continueFrom, evaluateEvery } = settings;
  if (continueFrom !== 'best' || evaluateEvery === null) return 0;
  return Math.floor(state.done / evaluateEvery) - Math.floor((night.first - 1) / evaluateEvery);
}

export async function tryOnHeldOut(
  night: Night,
  cycle: number,
  checkpoint: CheckpointRef,
): Promise<number | null> {
  const { evaluateEvery } = night.state.opened.settings;
  if (evaluateEvery === null || cycle % evaluateEvery !== 0) return null;
  night.phase = 'held-out questions';
  const questions = heldOutQuestions(night);
  const { meanReward, isCut } = await tryPolicy(night, 'evaluation', checkpoint, cycle, questions);
  return isCut ? null : meanReward;
}

function heldOutQuestions({ state }: Night): readonly QuestionRef[] {
  const { heldOut } = state.opened;
  return Array.from({ length: heldOut.count }, (_, index) => ({ set: heldOut.set, index }));
}

type Trial = Awaited<ReturnType<typeof tryPolicy>>;

/** Tries a policy with fixed identities and seeds: policies that write the same plan get the same answers. */
async function tryPolicy<Policy extends PolicyRef>(
  night: Night,
  purpose: 'evaluation' | 'canary',
  writer: Policy,
  cycle: number,
  questions: readonly QuestionRef[],
) {
  const { settings, heldOut } = night.state.opened;
  const { seed, pool, run, questions: side } = settings;
  const trials = drawTrials(questions, { seed, pool, workers: run.workers, count: heldOut.count });
  const played = await inWindow(trials, side, async (trial) =>
    night.startGroup({ purpose, cycle, writer, ...trial }, side),
  );
  const groups = played.filter((group) => group !== null);
  return {
    tried: { policy: writer, groups: groups.flatMap(({ rounds }) => rounds.map(({ key }) => key)) },
    meanReward: meanOf(groups.flatMap(({ score }) => score ?? [])),
    asked: groups.length,
    of: trials.length,
    isCut: groups.length < trials.length || night.isShort,
  };
}

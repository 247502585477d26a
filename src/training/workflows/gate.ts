import type { QuestionRef } from '../../evaluation/contract';
import { meanOf } from '../../evaluation/statistics';
import { inWindow } from '../../workflows/in-window';
import type { CanaryGaps, Tried } from '../contract';
import { canaryQuestions, drawTrials } from '../draw';
import {
  type CheckpointRef,
  describePolicy,
  FIND_BASELINE,
  JUDGE_CANARY,
  JUDGE_CANDIDATE,
  type PolicyRef,
  readCheckpointId,
  SCORE,
  WRITE_BATCH,
} from '../names';
import { storeActivities, trainerActivities } from './activities';
import type { Night } from './night';

export interface Judgement {
  readonly decision: string | null;
  /** Where the next night begins, instead of where this one ended; null: there. */
  readonly next: CheckpointRef | null;
}

/**
 * The gate at the end of a night: the night's checkpoint and the serving policy answer the held-out questions, as they were
 * trained to, and the better one serves. A new one is tried once more through the servers that serve it, and taken back
 * if it fails. One that is worse beyond chance need not be where the next night begins.
 */
export async function judge(night: Night): Promise<Judgement> {
  night.beginGate();
  const { checkpoint, begun, done, opened } = night.state;
  const baseline = await storeActivities('what serves?')[FIND_BASELINE](begun);
  const judgement = (decision: string | null): Judgement => ({ decision, next: null });
  if (describePolicy(checkpoint) === describePolicy(baseline)) return judgement(null);
  const questions = heldOutQuestions(night);
  const candidate = await tryPolicy(night, 'evaluation', checkpoint, done, questions);
  if (candidate.isCut) return judgement(describeCut(checkpoint, candidate));
  const serving = await tryPolicy(night, 'evaluation', baseline, done, questions);
  if (serving.isCut) return judgement(describeCut(checkpoint, serving));
  const { settings, heldOut } = opened;
  const { promoted, isLoss, sentence } = await storeActivities('gate')[JUDGE_CANDIDATE]({
    trainRun: settings.trainRun,
    date: opened.night.date,
    maxCostRatio: settings.gate.maxCostRatio,
    margin: settings.gate.margin,
    heldOut: heldOut.set,
    candidate: candidate.tried,
    baseline: serving.tried,
  });
  if (promoted) return judgement(`${sentence}. ${await tryPromoted(night, baseline)}`);
  const next = isLoss ? chooseNext(night, baseline, serving.meanReward) : null;
  if (next === null) return judgement(sentence);
  return { decision: `${sentence}. The next night goes on from ${describePolicy(next)}`, next };
}

function describeCut(checkpoint: CheckpointRef, { tried, asked, of }: Trial): string {
  return (
    `${describePolicy(checkpoint)} was not judged: the money of the night is used up, with ` +
    `${describePolicy(tried.policy)} tried on ${asked} of ${of} held-out questions`
  );
}

/**
 * Where the next night begins after one that made its policy worse than what serves; null: where it ended. The prompted
 * Conductor is no place to begin, nor is another run's checkpoint, unless this run began with it.
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

/** Tries the promoted checkpoint and the one it replaced on a few questions anew, where users are served. */
async function tryPromoted(night: Night, baseline: PolicyRef): Promise<string> {
  const { checkpoint, done, opened } = night.state;
  const { settings, heldOut } = opened;
  const questions = canaryQuestions(heldOut.set, heldOut.count);
  const promoted = await tryPolicy(night, 'canary', checkpoint, done, questions);
  const replaced = await tryPolicy(night, 'canary', baseline, done, questions);
  const gaps = await compareServed(night, promoted.tried.groups);
  const { sentence } = await storeActivities('canary')[JUDGE_CANARY]({
    trainRun: settings.trainRun,
    date: opened.night.date,
    promoted: promoted.tried,
    replaced: replaced.tried,
    gaps,
  });
  return sentence;
}

/** How far what the promoted checkpoint wrote is from what the trainer's own weights would have written. */
async function compareServed(night: Night, groups: readonly string[]): Promise<CanaryGaps | null> {
  if (groups.length === 0) return null;
  const { checkpoint, done: cycle, opened } = night.state;
  const { settings, init } = opened;
  const { trainRun, policy, tolerance } = settings;
  const temperature = policy.servingTemperature;
  const canary = opened.night.date;
  const written = { trainRun, cycle, checkpoint, temperature, groups, canary };
  const { rollouts, ...batch } = await storeActivities('what the canary wrote')[WRITE_BATCH](written);
  const trainer = trainerActivities('compare', settings, night.patienceMs());
  const asked = { checkpoint, cycle, batch, rollouts, temperature, config: init.config };
  const { own, parent } = await trainer[SCORE](asked);
  return { own, parent, tolerance: tolerance.canary };
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

interface Trial<Policy extends PolicyRef = PolicyRef> {
  readonly tried: Tried<Policy>;
  readonly meanReward: number | null;
  readonly asked: number;
  readonly of: number;
  /** The money was used up before all of them could be asked, or answered. */
  readonly isCut: boolean;
}

/** Always under the same names and seeds: policies that write the same plan get the same answers. */
async function tryPolicy<Policy extends PolicyRef>(
  night: Night,
  purpose: 'evaluation' | 'canary',
  writer: Policy,
  cycle: number,
  questions: readonly QuestionRef[],
): Promise<Trial<Policy>> {
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

import { type CheckpointRef, describePolicy, type PolicyRef } from '../checkpoint-ref';
import type { QuestionRef, Tried } from '../contract';
import { canaryQuestions } from '../draw';
import { FIND_BASELINE, JUDGE_CANARY, JUDGE_CANDIDATE, PUBLISH } from '../names';
import { meanOf } from '../statistics';
import { storeActivities, trainerActivities, trainerOptions } from './activities';
import { inWindow } from './in-window';
import type { Night } from './night';
import { startGroup } from './start-group';

/**
 * The gate at the end of a night: the night's checkpoint and the serving policy answer the held-out questions, and the
 * better one serves. A new one is tried once more through the servers that serve it, and taken back if it fails.
 *
 * @returns the decision in a sentence or two; null where there is nothing to judge
 */
export async function judge(night: Night): Promise<string | null> {
  night.beginGate();
  const { checkpoint, begun, done, opened } = night.state;
  const baseline = await storeActivities('what serves?')[FIND_BASELINE](begun);
  if (describePolicy(checkpoint) === describePolicy(baseline)) return null;
  const questions = heldOutQuestions(night);
  const candidate = await tryPolicy(night, 'evaluation', checkpoint, done, questions);
  const serving = candidate.isCut
    ? candidate
    : await tryPolicy(night, 'evaluation', baseline, done, questions);
  const cut = [candidate, serving].find(({ isCut }) => isCut);
  if (cut !== undefined) {
    return (
      `${describePolicy(checkpoint)} was not judged: the money of the night is used up, with ` +
      `${describePolicy(cut.tried.policy)} tried on ${cut.asked} of ${questions.length} held-out questions`
    );
  }
  const { promoted, sentence } = await storeActivities('gate')[JUDGE_CANDIDATE]({
    trainRun: opened.settings.trainRun,
    date: opened.night.date,
    maxCostRatio: opened.settings.gate.maxCostRatio,
    candidate: candidate.tried,
    baseline: serving.tried,
  });
  return promoted ? `${sentence}. ${await tryPromoted(night, baseline)}` : sentence;
}

/** Tries the promoted checkpoint and the one it replaced on a few questions anew, and its weights on the probe. */
async function tryPromoted(night: Night, baseline: PolicyRef): Promise<string> {
  const { checkpoint, done, opened } = night.state;
  const { settings, heldOut } = opened;
  const questions = canaryQuestions(heldOut.set, heldOut.count);
  const promoted = await tryPolicy(night, 'canary', checkpoint, done, questions);
  const replaced = await tryPolicy(night, 'canary', baseline, done, questions);
  const trainer = trainerActivities('probe', trainerOptions(settings, night.patienceMs()));
  const { logprobGap } = await trainer[PUBLISH]({
    checkpoint,
    servers: [settings.policy.baseUrl],
    // The canary judges the gap.
    tolerance: Number.MAX_VALUE,
  });
  const { sentence } = await storeActivities('canary')[JUDGE_CANARY]({
    trainRun: settings.trainRun,
    date: opened.night.date,
    promoted: promoted.tried,
    replaced: replaced.tried,
    probe: { logprobGap, tolerance: PROBE_TOLERANCE[settings.trainer.device] },
  });
  return sentence;
}

/**
 * How far a log-probability on the probe may be off the trainer's. A GPU computes in bfloat16, which rounds logits of 16
 * and more to steps of 0.125: on 63 tokens of a tiny model vLLM and transformers were up to 0.25 apart with equal weights,
 * and from 1.1 to 7.7 with those of other checkpoints.
 */
export const PROBE_TOLERANCE = { cpu: 1e-4, cuda: 0.5 } as const;

export async function tryOnHeldOut(
  night: Night,
  cycle: number,
  checkpoint: CheckpointRef,
): Promise<number | null> {
  const { evaluateEvery } = night.state.opened.settings;
  if (evaluateEvery === null || cycle % evaluateEvery !== 0) return null;
  night.phase = 'held-out questions';
  const { meanReward, isCut } = await tryPolicy(
    night,
    'evaluation',
    checkpoint,
    cycle,
    heldOutQuestions(night),
  );
  return isCut ? null : meanReward;
}

function heldOutQuestions({
  state: {
    opened: { heldOut },
  },
}: Night): readonly QuestionRef[] {
  return Array.from({ length: heldOut.count }, (_, index) => ({ set: heldOut.set, index }));
}

interface Trial {
  readonly tried: Tried;
  readonly meanReward: number | null;
  /** Questions that it was asked. */
  readonly asked: number;
  /** The money was used up before all of them could be asked, or answered. */
  readonly isCut: boolean;
}

/** Always under the same names and seeds: policies that write the same plan get the same answers. */
async function tryPolicy(
  night: Night,
  purpose: 'evaluation' | 'canary',
  writer: PolicyRef,
  cycle: number,
  questions: readonly QuestionRef[],
): Promise<Trial> {
  const { run, questions: side } = night.state.opened.settings;
  const { workers } = run;
  const played = await inWindow(questions, side, async (question) =>
    startGroup(night, { purpose, cycle, draw: question.index, question, writer, workers }, side),
  );
  const groups = played.filter((group) => group !== null);
  const rounds = groups.flatMap((group) => group.rounds);
  const rewards = rounds.flatMap((round) => round.rewards).filter((reward) => reward !== null);
  return {
    tried: { policy: writer, groups: rounds.map(({ key }) => key) },
    meanReward: meanOf(rewards),
    asked: groups.length,
    isCut: groups.length < questions.length || night.isShort,
  };
}

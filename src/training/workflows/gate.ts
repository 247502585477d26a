import type { QuestionRef, Tried } from '../contract';
import { canaryQuestions } from '../draw';
import { FIND_BASELINE, JUDGE_CANARY, JUDGE_CANDIDATE, PUBLISH } from '../names';
import { meanOf } from '../statistics';
import { storeActivities, trainerActivities, trainerOptions } from './activities';
import { inWindow } from './in-window';
import type { Night } from './night';
import { groupInput, runGroup } from './start-group';
import { type CheckpointRef, describePolicy, type PolicyRef } from '../checkpoint-ref';

/**
 * The gate at the end of a night: what was learned and what serves answer the held-out questions, and the better one
 * serves from then on. A new one is tried once more through the servers that serve it, and taken back if it fails.
 *
 * @returns what was decided, in a sentence or two; null where there is nothing to judge
 */
export async function judge(night: Night): Promise<string | null> {
  const { checkpoint, begun, done, opened } = night;
  const baseline = await storeActivities('what serves?')[FIND_BASELINE](begun);
  if (describePolicy(checkpoint) === describePolicy(baseline)) return null;
  if (night.isOutOfMoney()) {
    return `${describePolicy(checkpoint)} was not judged: the money of the night is used up`;
  }
  const questions = heldOutQuestions(night);
  const candidate = await tryPolicy(night, 'evaluation', checkpoint, done, questions);
  const serving = await tryPolicy(night, 'evaluation', baseline, done, questions);
  const { promoted, sentence } = await storeActivities('gate')[JUDGE_CANDIDATE]({
    trainRun: opened.settings.trainRun,
    date: opened.night.date,
    maxCostRatio: opened.settings.gate.maxCostRatio,
    candidate: candidate.tried,
    baseline: serving.tried,
  });
  return promoted ? `${sentence} ${await tryPromoted(night, baseline)}` : sentence;
}

/** Tries what was just promoted, and what it replaced, on a few questions anew, and its weights on the probe. */
async function tryPromoted(night: Night, baseline: PolicyRef): Promise<string> {
  const { checkpoint, done, opened } = night;
  const { settings, heldOut } = opened;
  const questions = canaryQuestions(heldOut.set, heldOut.count);
  const promoted = await tryPolicy(night, 'canary', checkpoint, done, questions);
  const replaced = await tryPolicy(night, 'canary', baseline, done, questions);
  const trainer = trainerActivities('probe', trainerOptions(settings, night.patienceMs()));
  const { logprobGap } = await trainer[PUBLISH]({
    checkpoint,
    servers: [settings.policy.baseUrl],
    // Whatever it is, the canary judges it.
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
 * How far a log-probability on the probe may be off what the trainer says. On a CPU both compute alike. For a GPU both
 * compute in bfloat16, which rounds logits of 16 and more to steps of 0.125: on 63 tokens of a tiny model vLLM and
 * transformers were up to 0.25 apart with equal weights, and from 1.1 to 7.7 with those of other checkpoints.
 */
export const PROBE_TOLERANCE = { cpu: 1e-4, cuda: 0.5 } as const;

/** Mean reward on the held-out questions, in cycles where they are due; else null. */
export async function tryOnHeldOut(
  night: Night,
  cycle: number,
  checkpoint: CheckpointRef,
): Promise<number | null> {
  const { evaluateEvery } = night.opened.settings;
  if (evaluateEvery === null || cycle % evaluateEvery !== 0) return null;
  night.phase = 'held-out questions';
  return (await tryPolicy(night, 'evaluation', checkpoint, cycle, heldOutQuestions(night))).meanReward;
}

function heldOutQuestions({ opened: { heldOut } }: Night): readonly QuestionRef[] {
  return Array.from({ length: heldOut.count }, (_, index) => ({ set: heldOut.set, index }));
}

/**
 * Tries a policy on held-out questions, each time under the same names and seeds: two policies that write the same plan
 * get the same answers, so that their difference is their own.
 */
async function tryPolicy(
  night: Night,
  purpose: 'evaluation' | 'canary',
  writer: PolicyRef,
  cycle: number,
  questions: readonly QuestionRef[],
): Promise<{ readonly tried: Tried; readonly meanReward: number | null }> {
  const { run, questions: side } = night.opened.settings;
  const { workers } = run;
  const groups = await inWindow(questions, side, (question) =>
    runGroup(groupInput(night, { purpose, cycle, draw: question.index, question, writer, workers, side })),
  );
  for (const { spentNanoUsd } of groups) night.spend(spentNanoUsd);
  const rounds = groups.flatMap((group) => group.rounds);
  const rewards = rounds.flatMap((round) => round.rewards).filter((reward) => reward !== null);
  return { tried: { policy: writer, groups: rounds.map(({ key }) => key) }, meanReward: meanOf(rewards) };
}

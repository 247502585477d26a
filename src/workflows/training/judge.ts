import { canaryQuestions, describePolicy } from '../../training/evaluation';
import type { PolicyRef } from '../../training/evaluation';
import { FIND_BASELINE, JUDGE_CANARY, JUDGE_CANDIDATE } from '../../training/names';
import { bookActivities } from './activities';
import { probe } from './learn';
import type { Night } from './night';
import { heldOutQuestions, tryPolicy } from './try-policy';

/**
 * The gate at the end of a night: what was learned and what serves answer the held-out questions, and the better one
 * serves from then on. Where that is the new one, some questions are asked once more through the servers that serve it,
 * and it is taken back if it does not answer them as well.
 *
 * @returns what was decided, in a sentence or two; null where nothing is to be judged
 */
export async function judge(night: Night): Promise<string | null> {
  const { checkpoint, begun } = night;
  const baseline = await bookActivities('what serves?')[FIND_BASELINE](begun);
  if (describePolicy(checkpoint) === describePolicy(baseline)) return null;
  if (night.isOutOfMoney()) {
    return `${describePolicy(checkpoint)} was not judged: the money of the night is used up`;
  }
  const questions = heldOutQuestions(night);
  const candidate = await tryPolicy(night, 'evaluation', checkpoint, night.done, questions);
  const serving = await tryPolicy(night, 'evaluation', baseline, night.done, questions);
  const { settings, night: claimed } = night.opened;
  const { promoted, sentence } = await bookActivities('gate')[JUDGE_CANDIDATE]({
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
  const { sentence } = await bookActivities('canary')[JUDGE_CANARY]({
    trainRun: opened.settings.trainRun,
    date: opened.night.date,
    promoted: promoted.tried,
    replaced: before.tried,
    probe: await probe(night),
  });
  return sentence;
}

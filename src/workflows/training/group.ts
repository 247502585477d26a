import { READ_QUESTION, SAMPLE_PLANS } from '../../training/names';
import type { SamplePlansResult } from '../../training/activities';
import { samplingSeed } from '../../training/seeds';
import type { CheckpointRef, GroupInput, GroupPart, GroupResult } from '../../training/train-input';
import { Limits } from '../limits';
import { bookActivities, samplingActivities } from './activities';
import type { GroupContext } from './group-context';
import { keepRounds, type PlayedRound } from './keep-rounds';
import { playPrompted, playSampled, type Played, type Root } from './play-round';
import { Stopwatch } from './stopwatch';

/**
 * Workflow `trainGroup`: several plans for one question by one policy, each carried out as a solve carries out its plan,
 * judged, and kept in the store. What it returns is what the batch is chosen by; everything else is in its records.
 *
 * With two rounds, the policy is shown each first plan with its answer once more, and accepts or corrects it: these
 * replies are a group of their own, and what came of them is discounted into the first round's rewards (paper section
 * 3.2 and appendix A.1).
 *
 * @throws ApplicationFailure of a `Policy.*` type when the policy cannot be sampled
 */
export async function trainGroup(input: GroupInput): Promise<GroupResult> {
  const watch = new Stopwatch<GroupPart>();
  const limits = new Limits(input.run.limits);
  const rounds =
    input.writer === 'prompted'
      ? await playByPrompt(input, limits, watch)
      : await playByPolicy(input, input.writer, limits, watch);
  const kept = await watch.time('grading', () => keepRounds(input, rounds));
  return {
    draw: input.draw,
    rounds: kept,
    spentNanoUsd: limits.spentAtMost.nanoUsd,
    spans: watch.spans,
    stoppedBy: limits.stoppedBy,
  };
}

async function playByPrompt(
  input: GroupInput,
  limits: Limits,
  watch: Stopwatch<GroupPart>,
): Promise<readonly PlayedRound[]> {
  const question = await bookActivities('read the question')[READ_QUESTION](input.question);
  const group: GroupContext = { input, limits, question, watch };
  return [{ question, samples: null, rollouts: await playPrompted(group) }];
}

async function playByPolicy(
  input: GroupInput,
  checkpoint: CheckpointRef,
  limits: Limits,
  watch: Stopwatch<GroupPart>,
): Promise<readonly PlayedRound[]> {
  const play = async (roots: readonly Root[] | null): Promise<PlayedRound> => {
    const { question, samples, plans } = await watch.time('sampling', () => sample(input, checkpoint, roots));
    const group: GroupContext = { input, limits, question, watch };
    return { question, samples, rollouts: await playSampled(group, plans, roots) };
  };
  const first = await play(null);
  const roots = input.recursion.rounds === 2 ? rootsIn(first.rollouts) : [];
  return roots.length === 0 ? [first] : [first, await play(roots)];
}

function sample(
  input: GroupInput,
  checkpoint: CheckpointRef,
  roots: readonly Root[] | null,
): Promise<SamplePlansResult> {
  const { trainRun, purpose, cycle, draw, question, workers, temperature, policy, run } = input;
  const round = roots === null ? 0 : 1;
  const plans = roots?.length ?? input.plans;
  const activities = samplingActivities(`${plans} plans, round ${round + 1}`, policy, run.heartbeatMs);
  return activities[SAMPLE_PLANS]({
    trainRun,
    purpose,
    cycle,
    draw,
    round,
    question,
    checkpoint,
    workers,
    maxSteps: run.limits.steps,
    plans,
    seed: samplingSeed({ seed: input.seed, purpose, cycle, draw, round }),
    temperature,
    policy,
    ...(roots && { earlier: roots.map(({ plan, answer }) => ({ plan, answer })) }),
  });
}

/** What a second round can be about: plans that gave an answer, right or wrong. */
function rootsIn(rollouts: readonly Played[]): readonly Root[] {
  return rollouts.flatMap(({ plan, answer, spoiltBy }, index) =>
    plan === null || answer === null || spoiltBy !== null ? [] : [{ index, plan, answer }],
  );
}

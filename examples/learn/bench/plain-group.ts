import { grade } from '../../../src/grading/grade';
import { conductorMessages } from '../../../src/plan/prompt/conductor';
import { type PromptedSample, samplePrompts } from '../../../src/training/activities/sample-plans';
import { samplingSeed } from '../../../src/training/draw';
import type { Question } from '../../../src/grading/question';
import { rewardOf } from '../../../src/training/reward';
import type { GroupId } from '../../../src/training/rollout';
import type { BatchRow } from '../../../src/training/trainer-contract';
import { inWindow } from '../../../src/training/workflows/in-window';
import { planIn } from '../plain/plan-in';
import { carryOut } from './plain-plan';
import type { PlainPolicy, PlainSetting } from './plain-setting';

/** Which group it is. */
export interface PlainDraw {
  readonly cycle: number;
  readonly draw: number;
  readonly question: Question;
}

/** The rollouts of one question, as they would come into a batch. */
export async function playGroup(
  setting: PlainSetting,
  policy: PlainPolicy,
  { cycle, draw, question }: PlainDraw,
): Promise<readonly BatchRow[]> {
  const { settings, world, workers, askWorker: ask } = setting;
  const { trainRun, window, reward } = settings;
  const group: GroupId = { trainRun, purpose: 'training', cycle, draw, question: question.id };
  const samples = await samplePlans(setting, policy, { cycle, draw, question });
  const groupId = `${padded(cycle)}/${padded(draw)}/0`;
  return inWindow(samples, window, async (sample, rollout) => {
    const plan = planIn(world, sample.text);
    const team = { ask, workers, question: question.question, rollout: { ...group, rollout } };
    const verdict = plan === null ? 'unparseable' : grade(question, await carryOut(plan, team));
    return {
      rolloutId: `${groupId}/${padded(rollout)}`,
      groupId,
      round: 0,
      promptTokenIds: [...sample.promptTokenIds],
      completionTokenIds: [...sample.tokenIds],
      sampledLogprobs: [...sample.logprobs],
      reward: rewardOf({ verdict, plan, nanoUsd: null }, reward),
      finishReason: sample.finishReason,
    };
  });
}

function samplePlans(
  { settings, workers, askPolicy }: PlainSetting,
  { served }: PlainPolicy,
  { cycle, draw, question }: PlainDraw,
): Promise<readonly PromptedSample[]> {
  const { seed, groupSize, policy, run } = settings;
  const messages = conductorMessages({
    style: policy.prompt,
    question: question.question,
    workers,
    describe: policy.describe,
    maxSteps: run.limits.steps,
    format: 'lists',
    repairs: [],
  });
  const task = {
    policy: served,
    prompts: Array<typeof messages>(groupSize).fill(messages),
    seed: samplingSeed({ seed, cycle, draw, round: 0, purpose: 'training' }),
    temperature: policy.temperature,
    maxTokens: policy.maxOutputTokens,
  };
  return samplePrompts(askPolicy, task, new AbortController().signal);
}

/** Six digits, as in a batch of the product's. */
function padded(number: number): string {
  return String(number).padStart(6, '0');
}

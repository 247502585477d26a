import type { Message } from '../../../src/plan/plan';
import { conductorMessages, type ConductorPrompt } from '../../../src/plan/prompt/conductor';
import { openStore } from '../../../src/store/open-store';
import { planPrompts } from '../../../src/training/activities/plan-prompts';
import { type PromptedSample, samplePrompts } from '../../../src/training/activities/sample-plans';
import type { SamplePlansRequest } from '../../../src/training/contract';
import { renderChatml } from '../../../src/training/policy/ask';
import type { Desk, Sampled } from './lesson';
import { LONGEST_PLAN, type Recipe } from './recipe';

/** What plans are wanted to, as the activity that samples them is asked. */
export interface RoundRequest extends Pick<SamplePlansRequest, 'workers' | 'plans' | 'earlier'> {
  readonly question: string;
}

/** How they are drawn. */
export interface Draw {
  readonly seed: number;
  /** 0: always the likeliest token. */
  readonly temperature: number;
}

/** Has a checkpoint write the plans of one round of a group, in the product's own prompts. */
export async function sampleRound(
  { recipe, ask, policyUrl }: Desk,
  { trainRun, name, path, tokenizerSha256, vocabulary }: Sampled,
  round: RoundRequest,
  draw: Draw,
): Promise<readonly PromptedSample[]> {
  const { maxPromptTokens } = recipe;
  const model = `${trainRun}-${name}`;
  const policy = { model, path, tokenizerSha256, vocabulary, maxPromptTokens, servers: [policyUrl] };
  const prompts = await promptsOf(recipe, round);
  const task = { policy, prompts, ...draw, maxTokens: LONGEST_PLAN };
  return samplePrompts(ask, task, new AbortController().signal);
}

/** What a policy is asked, as a text. */
export function promptFor(
  recipe: Recipe,
  { question, workers, review }: Pick<ConductorPrompt, 'question' | 'workers' | 'review'>,
): string {
  const { describe, world } = recipe;
  const { maxSteps } = world;
  const asked = { question, workers, describe, maxSteps, format: 'lists', repairs: [] } as const;
  return renderChatml(conductorMessages({ ...asked, review, style: 'compact' }));
}

function promptsOf(
  { world: { maxSteps }, describe, maxPromptTokens }: Recipe,
  { question, ...round }: RoundRequest,
): Promise<Message[][]> {
  const settings = {
    prompt: 'compact',
    describe,
    maxSteps,
    maxPromptTokens,
    maxOutputTokens: LONGEST_PLAN,
  } as const;
  return planPrompts(NO_STORE, round, settings, question);
}

/** No answer of these worlds is so long that it would lie in a store. */
const NO_STORE = openStore('file:.', '/nowhere');

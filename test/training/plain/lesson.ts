import { compactMessages } from '../../../src/plan/prompt/compact';
import type { AskPolicy, PolicyAnswer } from '../../../src/policy/ask-policy';
import { renderChatml } from '../../../src/policy/chatml';
import type { Message } from '../../../src/protocol/message';
import type { World } from '../../../src/testing/world';
import type { Checkpoint } from '../../../src/training/trainer-contract';
import { LONGEST_PLAN, LONGEST_PROMPT, type Recipe } from './recipe';
import type { StepServer } from './step-server';

/** One policy that is to learn the world of its recipe. */
export interface Lesson {
  readonly recipe: Recipe;
  readonly seed: number;
  readonly steps: StepServer;
  readonly ask: AskPolicy;
  /** Base URL of the policy server, ending in `/v1`. */
  readonly policyUrl: string;
  /** For files that the trainer reads. */
  readonly folder: string;
}

/** How plans are sampled. */
export interface Sampling {
  readonly n: number;
  readonly seed: number;
  /** 0: always the likeliest token. */
  readonly temperature: number;
}

/** Has a checkpoint write plans for a question, through the product's own client and prompt. */
export function samplePlans(
  { recipe: { world }, ask, policyUrl }: Lesson,
  { trainRun, name, path, tokenizerSha256 }: Checkpoint,
  question: string,
  sampling: Sampling,
): Promise<PolicyAnswer> {
  const model = `${trainRun}-${name}`;
  const policy = { model, path, tokenizerSha256, maxPromptTokens: LONGEST_PROMPT, servers: [policyUrl] };
  const asked = { messages: messagesFor(world, question), ...sampling, maxTokens: LONGEST_PLAN };
  return ask(policy, asked, new AbortController().signal);
}

/** What a policy reads, as a text. */
export function promptFor(world: World, question: string): string {
  return renderChatml(messagesFor(world, question));
}

function messagesFor({ workers, maxSteps }: World, question: string): Message[] {
  return compactMessages({
    question,
    workers: workers.map(({ id }) => ({ id, notes: null })),
    describe: 'ordinals',
    maxSteps,
    format: 'lists',
    repairs: [],
  });
}

import { compactMessages } from '../../../src/plan/prompt/compact';
import type { AskPolicy, PolicyAnswer } from '../../../src/policy/ask-policy';
import { renderChatml } from '../../../src/policy/chatml';
import type { Message } from '../../../src/protocol/message';
import type { World } from '../../../src/testing/world';
import type { Checkpoint } from '../../../src/training/trainer-contract';
import { LONGEST_PLAN, LONGEST_PROMPT, type Recipe } from './recipe';
import type { StepServer } from './step-server';

/** A policy server, and the world of a recipe that its policies write plans for. */
export interface Desk {
  readonly recipe: Recipe;
  readonly seed: number;
  readonly ask: AskPolicy;
  /** Base URL of the policy server, ending in `/v1`. */
  readonly policyUrl: string;
}

/** One policy that is to learn the world of its recipe. */
export interface Lesson extends Desk {
  readonly steps: StepServer;
  /** For files that the trainer reads. */
  readonly folder: string;
}

/** What a policy server must know of a checkpoint to sample it. */
export type Sampled = Pick<Checkpoint, 'trainRun' | 'name' | 'path' | 'tokenizerSha256'>;

/** How plans are sampled. */
export interface Sampling {
  readonly n: number;
  readonly seed: number;
  /** 0: always the likeliest token. */
  readonly temperature: number;
}

/** Has a checkpoint write plans for a question, through the product's own client and prompt. */
export function samplePlans(
  { recipe: { world }, ask, policyUrl }: Desk,
  { trainRun, name, path, tokenizerSha256 }: Sampled,
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

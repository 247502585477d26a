import type { RunWorker } from '../../../src/protocol/run';
import type { AskPolicy } from '../../../src/training/policy/ask';
import type { Checkpoint } from '../../../src/training/trainer-contract';
import type { Recipe } from './recipe';
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
  /** All that groups draw from. */
  readonly workers: readonly RunWorker[];
  readonly trainRun: string;
  readonly steps: StepServer;
  /** For files that the trainer reads. */
  readonly folder: string;
}

/** What a policy server must know of a checkpoint to sample it. */
export type Sampled = Pick<Checkpoint, 'trainRun' | 'name' | 'path' | 'tokenizerSha256' | 'vocabulary'>;

import type { ResolvedRun } from '../protocol/run';
import type { Describe, PromptStyle } from './manifest';
import type { TrainerConfig } from './trainer-contract';

/** How a rollout becomes a reward. */
export interface RewardSettings {
  readonly unparseable: number;
  readonly parseable: number;
  readonly correct: number;
  /** Taken off a correct rollout's reward for each USD that its workers cost; 0: none (as in the paper). */
  readonly costWeight: number;
  /** Taken off for each step beyond the first; 0: none (as in the paper). */
  readonly lengthWeight: number;
}

/** How plans are asked for while training; a checkpoint's manifest repeats what serving must know of it. */
export interface PolicySettings {
  /** Base URL of the policy server, ending in `/v1`. */
  readonly baseUrl: string;
  readonly prompt: PromptStyle;
  readonly describe: Describe;
  /** While training; serving has its own. */
  readonly temperature: number;
  readonly servingTemperature: number;
  readonly maxPromptTokens: number;
  readonly maxOutputTokens: number;
  /** How long one request for a group of plans may take, in milliseconds. */
  readonly timeoutMs: number;
  /** How long a server that is away is waited for, in milliseconds. */
  readonly patienceMs: number;
}

/** Which workers a group is given, and in what order. */
export interface PoolSettings {
  readonly adaptive: boolean;
  readonly least: number;
  readonly permuteIds: boolean;
  /** Teams, by the ids of their workers, that no group is ever given. Absent in nights of older versions: none. */
  readonly heldOut?: readonly (readonly string[])[];
}

/** Everything that holds for one night, resolved from `conductor.yaml`, its profile and the command. */
export interface TrainingSettings {
  readonly trainRun: string;
  readonly seed: number;
  /** Questions of a cycle. */
  readonly questions: number;
  /** Plans of a question. */
  readonly groupSize: number;
  /** Cycles of one night. */
  readonly cycles: number;
  /** Rollouts of one group that run at once. */
  readonly window: number;
  /** Activities of groups that a worker process has at once, apart from all others; null: they share its slots. */
  readonly slots: number | null;
  /** Groups without spread are dropped and others drawn in their place, up to this many draws in a cycle. */
  readonly maxDraws: number;
  readonly reward: RewardSettings;
  readonly policy: PolicySettings;
  readonly pool: PoolSettings;
  readonly recursion: { readonly rounds: 1 | 2; readonly rootDiscount: number };
  /** The held-out questions are tried after each so many cycles; null: only by the gate. */
  readonly evaluateEvery: number | null;
  readonly gate: { readonly maxCostRatio: number; readonly samples: number };
  /** Checkpoints that stay on the trainer's disk though no one needs them: of the last cycles, and of each n-th one. */
  readonly keep: { readonly last: number; readonly every: number | null };
  readonly budget: { readonly nanoUsd: number | null; readonly wallClockMs: number };
  readonly trainer: TrainerConfig & { readonly taskQueue: string };
  /**
   * The pool, and everything else that a run resolves: `run.limits` are those of one group, `run.conductor` is the
   * Conductor that a candidate must beat where no checkpoint serves yet.
   */
  readonly run: ResolvedRun;
}

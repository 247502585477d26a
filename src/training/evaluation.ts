import type { QuestionRef } from './activities';
import type { CheckpointRef } from './train-input';

/** Whoever writes plans: a checkpoint, or the Conductor of `conductor.yaml` as it is prompted, which is no checkpoint. */
export type PolicyRef = CheckpointRef | 'prompted';

/** How a policy is called in sentences and records: `<training run>/<name>`, or `the prompted Conductor`. */
export function describePolicy(policy: PolicyRef): string {
  return policy === 'prompted' ? 'the prompted Conductor' : `${policy.trainRun}/${policy.name}`;
}

/** A policy, and the store keys of the groups in which it was tried: one for each question and round. */
export interface Tried {
  readonly policy: PolicyRef;
  readonly groups: readonly string[];
}

/** Two policies tried on the same questions with the same seeds: one that may serve, and the one to be beaten. */
export interface PairedEvaluation {
  readonly candidate: Tried;
  /** Whatever serves; where nothing does, the checkpoint that the night began with. */
  readonly baseline: Tried;
}

/** A night's candidate, to be judged. */
export interface JudgeCandidateRequest extends PairedEvaluation {
  readonly trainRun: string;
  /** The night, as a local calendar date. */
  readonly date: string;
  readonly maxCostRatio: number;
}

/** What the gate decided, in figures and in one sentence that prints them. */
export interface GateDecision {
  readonly promoted: boolean;
  /** Questions that both could be graded on. */
  readonly pairs: number;
  /** Mean reward of the candidate less that of the baseline; null without a pair. */
  readonly gain: number | null;
  /** Lower 95 % bound of that difference; null with too few pairs for one. */
  readonly lowerBound: number | null;
  /** Mean cost of the candidate's rollouts in those of the baseline; null where a price is unknown. */
  readonly costRatio: number | null;
  readonly sentence: string;
}

/** How many held-out questions a checkpoint that was just promoted is tried on again. */
export const CANARY_QUESTIONS = 20;

/** A checkpoint that was just promoted, tried on some questions through the servers that now serve it. */
export interface JudgeCanaryRequest {
  readonly trainRun: string;
  readonly date: string;
  /** The one that serves now. */
  readonly promoted: Tried;
  /** What it replaced, on the same questions: its groups of the evaluation do. */
  readonly replaced: Tried;
  /** Largest difference of a log-probability on the probe, and how much it may be. */
  readonly probe: { readonly logprobGap: number; readonly tolerance: number };
}

export interface CanaryDecision {
  readonly rolledBack: boolean;
  readonly sentence: string;
}

/** Questions of the canary, the same in every night. */
export function canaryQuestions(set: string, count: number): readonly QuestionRef[] {
  const stride = Math.max(1, Math.floor(count / CANARY_QUESTIONS));
  const indices = Array.from({ length: Math.min(count, CANARY_QUESTIONS) }, (_, place) => place * stride);
  return indices.map((index) => ({ set, index }));
}

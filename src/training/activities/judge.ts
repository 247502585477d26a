import { z } from 'zod';
import type { Store } from '../../store/store';
import { decideCanary, decideGate } from '../gate';
import { type CheckpointRef, describePolicy, type PolicyRef } from '../names';
import type { TrainableConfig } from '../config/schema';
import type { CanaryDecision, CanaryGaps, GateDecision, Tried } from '../contract';
import { canaryKey, gateKey, isGateKey, TRAINING_FOLDER } from '../store-keys';
import { promote, readServing, rollback } from '../policy/serving';
import { type ScoredPolicy, scoreQuestions } from '../rewards';
import { readGroups, readRecord } from './records';

/** A night's candidate, tried on the same questions with the same seeds as the policy that it must beat. */
export interface JudgeCandidateRequest {
  readonly trainRun: string;
  readonly date: string;
  readonly candidate: Tried<CheckpointRef>;
  readonly baseline: Tried;
  readonly maxCostRatio: number | null;
  readonly margin: number;
  readonly heldOut: string;
}

/**
 * Activity `conductor.train.judgeCandidate`: decides from the groups of an evaluation whether the candidate may serve, has
 * it serve if so, and keeps the reasons beside the night. A second attempt changes nothing more. A person has the last word:
 * what is pinned stays, and so does what was promoted or taken back during the evaluation.
 */
export async function judgeCandidate(store: Store, request: JudgeCandidateRequest): Promise<GateDecision> {
  const { candidate, baseline, maxCostRatio, margin, heldOut } = request;
  const [one, other] = await Promise.all([scorePolicy(store, candidate), scorePolicy(store, baseline)]);
  const judgement = await countJudgements(store, request);
  const judged = decideGate(one, other, { maxCostRatio, margin, judgement });
  const decision = judged.promoted ? await letServe(store, request, judged) : judged;
  const names = { candidate: describePolicy(candidate.policy), baseline: describePolicy(baseline.policy) };
  await keepReasons(store, gateKey, request, { ...names, heldOut, maxCostRatio, margin, ...decision });
  return decision;
}

const judgedSchema = z.object({ candidate: z.string(), heldOut: z.string(), judgement: z.int().positive() });

/** Over all training runs. A repeated attempt is the same decision; a night that went on and is judged anew makes one more. */
async function countJudgements(
  store: Store,
  { trainRun, date, candidate, heldOut }: JudgeCandidateRequest,
): Promise<number> {
  const own = gateKey(trainRun, date);
  let before = 0;
  for await (const { key } of store.entries(TRAINING_FOLDER)) {
    if (!isGateKey(key)) continue;
    const judged = await readRecord(store, key, judgedSchema);
    if (judged?.heldOut !== heldOut) continue;
    if (key === own && judged.candidate === describePolicy(candidate.policy)) return judged.judgement;
    before = Math.max(before, judged.judgement);
  }
  return before + 1;
}

async function letServe(
  store: Store,
  { candidate: { policy }, baseline }: JudgeCandidateRequest,
  decision: GateDecision,
): Promise<GateDecision> {
  const { sentence: reason } = decision;
  const { serving, sentence } = await promote(store, policy, { reason, by: 'gate', over: baseline.policy });
  // An earlier attempt may have had it serve.
  if (serving.serving !== null && isSame(serving.serving, policy)) return decision;
  return { ...decision, promoted: false, sentence: `${reason}, but ${sentence}` };
}

function isSame(one: PolicyRef, other: PolicyRef): boolean {
  return describePolicy(one) === describePolicy(other);
}

/** A checkpoint that was just promoted, tried on some questions through the servers that now serve it. */
export interface JudgeCanaryRequest {
  readonly trainRun: string;
  readonly date: string;
  readonly promoted: Tried;
  readonly replaced: Tried;
  /** Gaps between what the promoted one wrote there and the trainer's own weights; null if it wrote nothing. */
  readonly gaps: CanaryGaps | null;
}

/**
 * Activity `conductor.train.judgeCanary`: takes back a checkpoint that was just promoted and does not serve as it was
 * tried, and keeps the reasons beside the night. What a person promoted or took back meanwhile stays.
 */
export async function judgeCanary(store: Store, request: JudgeCanaryRequest): Promise<CanaryDecision> {
  const { promoted, replaced, gaps } = request;
  const [now, before] = await Promise.all([scorePolicy(store, promoted), scorePolicy(store, replaced)]);
  const judged = decideCanary(now, before, gaps);
  const decision = judged.rolledBack ? await takeBack(store, request, judged) : judged;
  const names = { promoted: describePolicy(promoted.policy), replaced: describePolicy(replaced.policy) };
  await keepReasons(store, canaryKey, request, { ...names, gaps, ...decision });
  return decision;
}

async function takeBack(
  store: Store,
  { promoted, replaced }: JudgeCanaryRequest,
  decision: CanaryDecision,
): Promise<CanaryDecision> {
  const { changed, serving, sentence } = await rollback(store, decision.sentence, promoted.policy);
  // Restores what it replaced, if an earlier attempt undid the promotion.
  if (changed || isSame(serving.serving ?? 'prompted', replaced.policy)) return decision;
  return { rolledBack: false, sentence: `${decision.sentence}, but ${sentence}` };
}

async function keepReasons(
  store: Store,
  keyOf: (trainRun: string, date: string) => string,
  { trainRun, date }: Pick<JudgeCanaryRequest, 'trainRun' | 'date'>,
  reasons: object,
): Promise<void> {
  const record = { schema: 1, trainRun, night: date, ...reasons, at: new Date().toISOString() };
  await store.write(keyOf(trainRun, date), Buffer.from(JSON.stringify(record, null, 2)));
}

async function scorePolicy(store: Store, { policy, groups }: Tried): Promise<ScoredPolicy> {
  return { policy, scores: scoreQuestions(await readGroups(store, groups)) };
}

/**
 * Activity `conductor.train.findBaseline`: what writes plans now, and must be beaten. That is the serving checkpoint; else
 * the configured Conductor; else, where that is a policy and nothing serves yet, the checkpoint the night began with.
 */
export async function findBaseline(
  { store, config }: { readonly store: Store; readonly config: Pick<TrainableConfig, 'conductor'> },
  begun: CheckpointRef,
): Promise<PolicyRef> {
  const { serving } = await readServing(store);
  return serving ?? (config.conductor.provider === 'policy' ? begun : 'prompted');
}

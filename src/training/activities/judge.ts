import type { Store } from '../../store/store';
import { decideCanary, decideGate, type GateRule } from '../gate-rule';
import { type CheckpointRef, describePolicy, type PolicyRef } from '../names';
import type { TrainableConfig } from '../config/schema';
import type { CanaryGaps, Tried } from '../contract';
import { canaryKey, gateKey, isGateKey, TRAINING_FOLDER } from '../store-keys';
import { promote, readServing, rollback, type ServingChange } from '../policy/serving';
import { type ScoredPolicy, scoreQuestions } from '../rewards';
import { readRecord } from '../../store/records';
import { type CanaryDecision, type GateDecision, gateRecordSchema } from '../records';
import { readGroups } from './records';

interface OfNight {
  readonly trainRun: string;
  readonly date: string;
}

/** A night's candidate, tried on the same questions with the same seeds as the policy that it must beat. */
export interface JudgeCandidateRequest extends OfNight, Omit<GateRule, 'judgement'> {
  readonly candidate: Tried<CheckpointRef>;
  readonly baseline: Tried;
  readonly heldOut: string;
  /** Earlier trials in the night on these questions, to choose where a later one begins: each is a judgement, too. */
  readonly looks: number;
}

/**
 * Activity `conductor.train.judgeCandidate`: decides whether the candidate may serve, promotes it if so, and stores the
 * reasons beside the night; repeatable. What a person pinned, promoted or rolled back meanwhile stays.
 */
export async function judgeCandidate(store: Store, request: JudgeCandidateRequest): Promise<GateDecision> {
  const { candidate, baseline, maxCostRatio, margin, heldOut } = request;
  const [one, other] = await Promise.all([scorePolicy(store, candidate), scorePolicy(store, baseline)]);
  const judgement = await countJudgements(store, request);
  const judged = decideGate(one, other, { maxCostRatio, margin, judgement });
  const serve = () =>
    promote(store, candidate.policy, { reason: judged.sentence, by: 'gate', over: baseline.policy });
  const decision = judged.promoted
    ? carriedOut(judged, await serve(), candidate.policy, { promoted: false })
    : judged;
  const names = { candidate: describePolicy(candidate.policy), baseline: describePolicy(baseline.policy) };
  await keepReasons(store, gateKey, request, { ...names, heldOut, maxCostRatio, margin, ...decision });
  return decision;
}

const judgedSchema = gateRecordSchema.pick({ candidate: true, heldOut: true, judgement: true });

/** Numbers the decisions on a held-out set, over all training runs; a retry for the same candidate keeps its number. */
async function countJudgements(
  store: Store,
  { trainRun, date, candidate, heldOut, looks }: JudgeCandidateRequest,
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
  return before + looks + 1;
}

/** Returns the decision if it took effect, now or in an earlier attempt; otherwise one that says why it did not. */
function carriedOut<Decision extends { readonly sentence: string }>(
  decision: Decision,
  { changed, serving, sentence }: ServingChange,
  wanted: PolicyRef,
  otherwise: Partial<Decision>,
): Decision {
  if (changed || describePolicy(serving.serving ?? 'prompted') === describePolicy(wanted)) return decision;
  return { ...decision, ...otherwise, sentence: `${decision.sentence}, but ${sentence}` };
}

export interface JudgeCanaryRequest extends OfNight {
  readonly promoted: Tried;
  readonly replaced: Tried;
  readonly gaps: CanaryGaps | null;
}

/** Activity `conductor.train.judgeCanary`: undoes a promotion that does not serve as it was tried, and stores why. */
export async function judgeCanary(store: Store, request: JudgeCanaryRequest): Promise<CanaryDecision> {
  const { promoted, replaced, gaps } = request;
  const [now, before] = await Promise.all([scorePolicy(store, promoted), scorePolicy(store, replaced)]);
  const judged = decideCanary(now, before, gaps);
  const takeBack = () => rollback(store, judged.sentence, promoted.policy);
  const decision = judged.rolledBack
    ? carriedOut(judged, await takeBack(), replaced.policy, { rolledBack: false })
    : judged;
  const names = { promoted: describePolicy(promoted.policy), replaced: describePolicy(replaced.policy) };
  await keepReasons(store, canaryKey, request, { ...names, gaps, ...decision });
  return decision;
}

async function keepReasons(
  store: Store,
  keyOf: typeof gateKey,
  { trainRun, date }: OfNight,
  reasons: object,
): Promise<void> {
  const record = { schema: 1, trainRun, night: date, ...reasons, at: new Date().toISOString() };
  await store.write(keyOf(trainRun, date), Buffer.from(JSON.stringify(record, null, 2)));
}

async function scorePolicy(store: Store, { policy, groups }: Tried): Promise<ScoredPolicy> {
  return { policy, scores: scoreQuestions(await readGroups(store, groups)) };
}

/**
 * Activity `conductor.train.findBaseline`: returns what must be beaten: the checkpoint that serves, else the configured
 * Conductor, or, if that is a policy, the checkpoint that the night began with.
 */
export async function findBaseline(
  { store, config }: { readonly store: Store; readonly config: Pick<TrainableConfig, 'conductor'> },
  begun: CheckpointRef,
): Promise<PolicyRef> {
  const { serving } = await readServing(store);
  return serving ?? (config.conductor.provider === 'policy' ? begun : 'prompted');
}

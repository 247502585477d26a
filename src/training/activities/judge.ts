import type { TrainableConfig } from '../config/schema';
import type { Store } from '../../store/store';
import { decideCanary, decideGate, type ScoredPolicy, scoreQuestions } from '../gate';
import type {
  CanaryDecision,
  GateDecision,
  JudgeCanaryRequest,
  JudgeCandidateRequest,
  Tried,
} from '../contract';
import { canaryKey, gateKey } from '../keys';
import { promote, readServing, rollback } from '../policy/serving';
import { readGroup } from './records';
import { type CheckpointRef, describePolicy, type PolicyRef } from '../checkpoint-ref';

/**
 * Activity `conductor.train.judgeCandidate`: computes from the groups of an evaluation whether the candidate may serve, has
 * it serve if so, and keeps the reasons beside the night. A second attempt comes to the same and changes nothing more.
 *
 * Whatever the figures say, a person has the last word: what is pinned stays, and so does what was promoted or taken
 * back while the night was being judged, since the candidate was not compared with that.
 */
export async function judgeCandidate(store: Store, request: JudgeCandidateRequest): Promise<GateDecision> {
  const { trainRun, date, candidate, baseline, maxCostRatio } = request;
  const [one, other] = await Promise.all([scorePolicy(store, candidate), scorePolicy(store, baseline)]);
  const judged = decideGate(one, other, maxCostRatio);
  const decision = judged.promoted ? await letServe(store, request, judged) : judged;
  const record = {
    schema: 1,
    trainRun,
    night: date,
    candidate: describePolicy(candidate.policy),
    baseline: describePolicy(baseline.policy),
    maxCostRatio,
    ...decision,
    at: new Date().toISOString(),
  };
  await store.write(gateKey(trainRun, date), Buffer.from(JSON.stringify(record, null, 2)));
  return decision;
}

async function letServe(
  store: Store,
  { candidate, baseline }: JudgeCandidateRequest,
  decision: GateDecision,
): Promise<GateDecision> {
  const { policy } = candidate;
  if (policy === 'prompted') return overruled(decision, 'only a checkpoint can be promoted');
  const { serving } = await readServing(store);
  if (serving !== null && !isOneOf(serving, [policy, baseline.policy])) {
    return overruled(decision, `meanwhile ${describePolicy(serving)} serves, which it was not compared with`);
  }
  if (serving !== null && isOneOf(serving, [policy])) return decision;
  const change = await promote(store, policy, { reason: decision.sentence, by: 'gate' });
  return change.changed ? decision : overruled(decision, change.sentence);
}

function overruled(decision: GateDecision, why: string): GateDecision {
  return { ...decision, promoted: false, sentence: `${decision.sentence}, but ${why}` };
}

function isOneOf(policy: PolicyRef, others: readonly PolicyRef[]): boolean {
  return others.some((other) => describePolicy(other) === describePolicy(policy));
}

/**
 * Activity `conductor.train.judgeCanary`: takes a checkpoint back that was just promoted and does not serve as it was
 * tried, and keeps the reasons beside the night. What a person promoted or took back meanwhile is left as it is, and a
 * second attempt takes nothing back that an earlier one did.
 */
export async function judgeCanary(store: Store, request: JudgeCanaryRequest): Promise<CanaryDecision> {
  const { trainRun, date, promoted, replaced, probe } = request;
  const [now, before] = await Promise.all([scorePolicy(store, promoted), scorePolicy(store, replaced)]);
  const judged = decideCanary(now, before, probe);
  const decision = judged.rolledBack ? await takeBack(store, request, judged) : judged;
  const record = {
    schema: 1,
    trainRun,
    night: date,
    promoted: describePolicy(promoted.policy),
    replaced: describePolicy(replaced.policy),
    probe,
    ...decision,
    at: new Date().toISOString(),
  };
  await store.write(canaryKey(trainRun, date), Buffer.from(JSON.stringify(record, null, 2)));
  return decision;
}

async function takeBack(
  store: Store,
  { promoted, replaced }: JudgeCanaryRequest,
  decision: CanaryDecision,
): Promise<CanaryDecision> {
  const { serving } = await readServing(store);
  const serves = serving === null ? describePolicy('prompted') : describePolicy(serving);
  if (serves === describePolicy(promoted.policy)) {
    await rollback(store, decision.sentence);
    return decision;
  }
  // An earlier attempt has done it.
  if (serves === describePolicy(replaced.policy)) return decision;
  return { rolledBack: false, sentence: `${decision.sentence}, but meanwhile ${serves} serves` };
}

/**
 * What a policy came to on the questions that it was tried on, from its groups as they were kept.
 *
 * @throws ApplicationFailure `Store.NotFound`, not retryable, that names a group which is gone or cannot be read
 */
async function scorePolicy(store: Store, { policy, groups }: Tried): Promise<ScoredPolicy> {
  const records = await Promise.all(groups.map((key) => readGroup(store, key)));
  return { policy, scores: scoreQuestions(records) };
}

/**
 * Activity `conductor.train.findBaseline`: what writes plans now, and must be beaten. That is the checkpoint that
 * serves; else the Conductor of the configuration; else, where that is to be a checkpoint and none serves yet, the one
 * that the night began with.
 */
export async function findBaseline(
  { store, config }: { readonly store: Store; readonly config: Pick<TrainableConfig, 'conductor'> },
  begun: CheckpointRef,
): Promise<PolicyRef> {
  const { serving } = await readServing(store);
  if (serving !== null) return serving;
  return config.conductor.provider === 'policy' ? begun : 'prompted';
}

import { promote, readServing } from '../../policy/serving';
import type { Store } from '../../store/store';
import {
  describePolicy,
  type GateDecision,
  type JudgeCandidateRequest,
  type PolicyRef,
} from '../../training/evaluation';
import { decideGate } from '../../training/gate';
import { gateKey } from '../../training/keys';
import { scorePolicy } from './score-policy';

/**
 * Activity `conductor.train.judgeCandidate`: reckons from the groups of an evaluation whether the candidate may serve, has
 * it serve if so, and keeps the reasons beside the night. A second attempt reckons the same and changes nothing more.
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

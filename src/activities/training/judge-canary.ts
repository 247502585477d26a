import { readServing, rollback } from '../../policy/serving';
import type { Store } from '../../store/store';
import { decideCanary } from '../../training/canary';
import { describePolicy, type CanaryDecision, type JudgeCanaryRequest } from '../../training/evaluation';
import { canaryKey } from '../../training/keys';
import { scorePolicy } from './score-policy';

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

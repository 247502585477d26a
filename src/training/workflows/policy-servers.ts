import type { PolicySettings, PublishSettings } from '../inputs';
import { serversOf } from '../names';
import type { LeftOut } from '../trainer-contract';

/** Policy servers that sleep while the trainer computes, if they share its GPU. */
export function sleepersOf({ policy }: Pick<PublishSettings, 'policy'>): { readonly asleep?: string[] } {
  return policy.sleepDuringUpdate === true ? { asleep: [...serversOf(policy)] } : {};
}

/** Returns a policy's settings with only the servers that can be used. */
export function policyWithout(policy: PolicySettings, leftOut: LeftOut): PolicySettings {
  const unusable = new Set(leftOut?.map(({ server }) => server));
  if (unusable.size === 0) return policy;
  return { ...policy, baseUrl: serversOf(policy).filter((server) => !unusable.has(server)) };
}

import { FAILURES } from '../../protocol/failures';
import type { PolicyError } from '../../policy/policy-error';
import { POLICY_FAILURES, type PolicyFailureType } from '../../training/policy-failures';
import type { ProviderFailureType } from './consequence';
import type { Diagnosis } from './diagnosis';

const TYPES: Readonly<Record<PolicyFailureType, ProviderFailureType>> = {
  [POLICY_FAILURES.unavailable]: FAILURES.unavailable,
  [POLICY_FAILURES.badReply]: FAILURES.badResponse,
  [POLICY_FAILURES.unknownModel]: FAILURES.badRequest,
  [POLICY_FAILURES.rejected]: FAILURES.badRequest,
  [POLICY_FAILURES.promptTooLong]: FAILURES.badRequest,
  [POLICY_FAILURES.noManifest]: FAILURES.badRequest,
};

/** Judges a checkpoint that gave no answer, in the words of any other provider. Nothing of it is ever billed. */
export function diagnosePolicy({ type, happened, remedy }: PolicyError): Diagnosis {
  return { type: TYPES[type], happened: 'wrote no plan', reason: happened, remedy, billed: 'no' };
}

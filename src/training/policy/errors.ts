import { ApplicationFailure } from '@temporalio/common';
import { asFailure } from '../../activities/as-failure';
import { DiagnosedError, type Diagnosis, type ProviderFailureType } from '../../activities/models';
import { FAILURES } from '../../protocol/failures';

/** Failures of requests to a policy. None is ever billed, and only a transient one is retried. */
export const POLICY_FAILURES = {
  /** Temporal retries it, with back-off. */
  unavailable: 'Policy.Unavailable',
  unknownModel: 'Policy.UnknownModel',
  /** The server refused the request, e.g. for a too long context or an unsupported option. */
  rejected: 'Policy.Rejected',
  /** Unusable answer: invalid JSON, missing tokens, non-numeric log-probabilities. */
  badReply: 'Policy.BadReply',
  /** The server serves other weights under the checkpoint's name. */
  otherWeights: 'Policy.OtherWeights',
  promptTooLong: 'Policy.PromptTooLong',
  noManifest: 'Policy.NoManifest',
} as const;

export class PolicyError extends DiagnosedError {
  override readonly name = 'PolicyError';

  constructor(
    readonly code: (typeof POLICY_FAILURES)[keyof typeof POLICY_FAILURES],
    /** Subject, verb and reason; without a full stop. */
    readonly happened: string,
    readonly remedy: string,
  ) {
    super(`${happened}. ${remedy}`);
  }

  /** Diagnosis of a plan's call, with the failure types of any other provider. */
  get diagnosis(): Diagnosis {
    const { code, happened: reason, remedy } = this;
    return { type: AS_PROVIDER[code], happened: 'wrote no plan', reason, remedy, billed: 'no' };
  }
}

const AS_PROVIDER: Readonly<Record<PolicyError['code'], ProviderFailureType>> = {
  [POLICY_FAILURES.unavailable]: FAILURES.unavailable,
  [POLICY_FAILURES.unknownModel]: FAILURES.notFound,
  [POLICY_FAILURES.noManifest]: FAILURES.notFound,
  [POLICY_FAILURES.rejected]: FAILURES.badRequest,
  [POLICY_FAILURES.promptTooLong]: FAILURES.badRequest,
  [POLICY_FAILURES.badReply]: FAILURES.badResponse,
  [POLICY_FAILURES.otherWeights]: FAILURES.badResponse,
};

/** Turns our errors, those of policies included, into typed failures and marks those that a retry cannot fix. */
export function asPolicyFailure<T>(work: () => Promise<T>): Promise<T> {
  return asFailure(async () => {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof PolicyError)) throw error;
      const { message, code: type } = error;
      const nonRetryable = type !== POLICY_FAILURES.unavailable;
      throw ApplicationFailure.create({ message, type, nonRetryable });
    }
  });
}

type Refusal = Pick<Response, 'status'> & { readonly reason: string };

/** Transient statuses, after which a retry may succeed: overload, a restart, an internal error. */
const PASSING: ReadonlySet<number> = new Set([408, 429, 500, 502, 503, 504]);

export function refused(server: string, model: string, refusal: Refusal): PolicyError {
  const happened = `the policy server ${server} ${answered(refusal)} to a request for ${model}`;
  if (PASSING.has(refusal.status)) return unavailable(happened);
  if (refusal.status === 404) {
    const remedy = 'Check that the address is that of a policy server and ends in /v1.';
    return new PolicyError(POLICY_FAILURES.unknownModel, happened, remedy);
  }
  const remedy = 'Correct the settings of the policy that it names.';
  return new PolicyError(POLICY_FAILURES.rejected, happened, remedy);
}

/** Does not retry status 500: vLLM answers it to whatever it cannot load, now or ever. */
export function cannotLoad(server: string, model: string, folder: string, refusal: Refusal): PolicyError {
  const happened = `the policy server ${server} cannot load ${model} from ${folder}: it ${answered(refusal)}`;
  if (refusal.status !== 500 && PASSING.has(refusal.status)) return unavailable(happened);
  return new PolicyError(
    POLICY_FAILURES.unknownModel,
    happened,
    "Check that it was given the trainer's --artifacts and a folder by --checkpoints. A vLLM must be started with " +
      '--enable-lora and VLLM_ALLOW_RUNTIME_LORA_UPDATING=1, and `temporal-conductor-trainer fetching-server` stand before ' +
      'it; for whole models, `restarting-server`.',
  );
}

function answered({ status, reason }: Refusal): string {
  return `answered ${status}${reason === '' ? '' : `, ${reason},`}`;
}

export function badReply(server: string, problem: string): PolicyError {
  const happened = `an answer of the policy server ${server} ${problem}`;
  const remedy =
    "Check that it has vLLM's /v1/completions, with return_token_ids and logprobs, and that its weights are sound.";
  return new PolicyError(POLICY_FAILURES.badReply, happened, remedy);
}

export function unavailable(happened: string): PolicyError {
  const remedy =
    'Check that it runs and can be reached from this worker; the request is made again by itself.';
  return new PolicyError(POLICY_FAILURES.unavailable, happened, remedy);
}

import { POLICY_FAILURES } from '../training/policy-failures';
import type { Refusal } from './answer';
import { PolicyError } from './policy-error';

/** Who was asked. */
interface Asked {
  /** Base URL of the server. */
  readonly server: string;
  readonly model: string;
}

/** Statuses after which the same request may be answered: overload, a restart, a fault inside. */
const PASSING: ReadonlySet<number> = new Set([408, 429, 500, 502, 503, 504]);

/** What the refusal of a request to a checkpoint means. */
export function refused({ server, model }: Asked, refusal: Refusal): PolicyError {
  if (PASSING.has(refusal.status)) return outOfOrder(server, refusal);
  return refusal.status === 404
    ? new PolicyError(
        POLICY_FAILURES.unknownModel,
        `the policy server ${server} does not know ${model}: it answered ${said(refusal)}`,
        'Check that the address is that of a policy server and ends in /v1.',
      )
    : new PolicyError(
        POLICY_FAILURES.rejected,
        `the policy server ${server} refused a request to ${model}: it answered ${said(refusal)}`,
        'Correct the settings of the policy that it names.',
      );
}

/** What the refusal to load a checkpoint means. vLLM says 500 of whatever it cannot load, now or later. */
export function cannotLoad({ server, model, path }: Asked & { path: string }, refusal: Refusal): PolicyError {
  if (refusal.status !== 500 && PASSING.has(refusal.status)) return outOfOrder(server, refusal);
  return new PolicyError(
    POLICY_FAILURES.unknownModel,
    `the policy server ${server} cannot load ${model} from ${path}: it answered ${said(refusal)}`,
    'Check that the folder is there on its machine, and that a vLLM server was started with --enable-lora and ' +
      'VLLM_ALLOW_RUNTIME_LORA_UPDATING=1; for whole models, put conductor_trainer.restarting_server before it.',
  );
}

/** An answer that is none. */
export function badReply(server: string, problem: string): PolicyError {
  return new PolicyError(
    POLICY_FAILURES.badReply,
    `an answer of the policy server ${server} ${problem}`,
    'Check that it is vLLM 0.31 or our own policy server, and that the weights it serves are sound.',
  );
}

/** A server that gave no answer, but may give one later. */
export function unavailable(happened: string): PolicyError {
  return new PolicyError(
    POLICY_FAILURES.unavailable,
    happened,
    'Check that it runs and can be reached from this worker; the request is made again by itself.',
  );
}

function outOfOrder(server: string, refusal: Refusal): PolicyError {
  return unavailable(`the policy server ${server} answered ${said(refusal)}`);
}

function said({ status, reason }: Refusal): string {
  return reason === '' ? `${status}` : `${status}, ${reason}`;
}

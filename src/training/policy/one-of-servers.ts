import { Context } from '@temporalio/activity';
import { PolicyClient } from './client';
import { POLICY_FAILURES, PolicyError, unavailable } from './errors';
import type { CheckpointManifest } from './serving';

/**
 * Works with one of several policy servers: groups are dealt out to them by their draw, and each attempt has the next
 * one. Until every server had its attempt, no server's fault ends the activity.
 */
export async function withOneOf<Result>(
  servers: readonly string[],
  draw: number,
  work: (server: string) => Promise<Result>,
): Promise<Result> {
  const { info, log } = Context.current();
  const server = servers[(draw + info.attempt - 1) % servers.length] ?? '';
  try {
    return await work(server);
  } catch (error) {
    if (info.attempt >= servers.length || !isFaultOfServer(error)) throw error;
    log.warn(error.message);
    throw unavailable(error.happened);
  }
}

const FAULTS: ReadonlySet<string> = new Set([
  POLICY_FAILURES.unavailable,
  POLICY_FAILURES.unknownModel,
  POLICY_FAILURES.rejected,
  POLICY_FAILURES.badReply,
  POLICY_FAILURES.otherWeights,
]);

function isFaultOfServer(error: unknown): error is PolicyError {
  return error instanceof PolicyError && FAULTS.has(error.code);
}

/**
 * Requires that a server finds a checkpoint's fixed text as likely as the trainer did, so that nothing is learned from
 * samples of other weights. Checkpoints of earlier versions have no such text.
 * @throws PolicyError `Policy.OtherWeights`
 */
export async function requireOwnWeights(
  server: string,
  { model, folder, probe }: Pick<CheckpointManifest, 'model' | 'folder' | 'probe'>,
  signal: AbortSignal,
): Promise<void> {
  if (probe === undefined) return;
  const served = await new PolicyClient(server).score(model, probe.tokenIds, signal);
  const gap = Math.max(...served.map((logprob, place) => Math.abs(logprob - (probe.logprobs[place] ?? NaN))));
  // Written so that NaN fails.
  if (gap <= probe.tolerance) return;
  throw new PolicyError(
    POLICY_FAILURES.otherWeights,
    `the policy server ${server} gives log-probabilities of ${model} that differ from the trainer's by ` +
      `${gap.toPrecision(3)}, over the tolerance of ${probe.tolerance}: it serves other weights than ${folder}`,
    'Unload the model there, or restart the server; its samples were not used.',
  );
}

import type { Grade } from '../../grading/verdict';
import type { Call } from '../../protocol/call';
import type { ModelCard } from '../../protocol/cards';
import type { ResolvedRun } from '../../protocol/run';
import type { Text } from '../../protocol/text';
import type { Limits } from '../../workflows/limits';
import { lastOutputOf } from '../../workflows/run-plan';
import { textOf } from '../../workflows/text-of';
import type { RuleGrade } from '../contract';
import { runGiven, runWithin } from './run-within';

/** The last line of a verifier's reply, where its verdict stands, or why there is none; and what asking it took. */
export interface VerifierReply {
  readonly said: string | null;
  readonly problem: string;
  readonly calls: readonly Call[];
}

interface Asked {
  readonly verifier: ModelCard;
  readonly prompt: Text;
  readonly run: ResolvedRun;
  readonly limits: Limits;
  /** Purpose of the call. */
  readonly name: string;
  /** See `RunContext`. */
  readonly identity?: string;
}

/**
 * Has a model from outside the pool read a prompt, as the one step of a run that knows no other worker: its call is
 * reserved, retried, kept and booked as every other one, and counted in the limits.
 */
export async function askVerifier({
  verifier,
  prompt,
  run,
  limits,
  name,
  identity,
}: Asked): Promise<VerifierReply> {
  const context = runWithin(name, {
    question: prompt,
    run: { ...run, workers: [verifier], queuePerProvider: false },
    limits,
    ...(identity !== undefined && { identity }),
  });
  await runGiven(context, {
    steps: [{ worker: verifier.id, subtask: 'Judge an answer.', sees: [] }],
  });
  const { calls, rounds } = context.recorder.trace;
  const error = rounds[0]?.steps[0]?.error ?? null;
  const output = lastOutputOf(context);
  if (error !== null || output === null) {
    return { said: null, problem: `the verifier failed: ${error?.message ?? 'it gave no verdict'}`, calls };
  }
  const said = lastLineOf(await textOf(output));
  return { said, problem: 'the verifier said none of the words that it was to choose from', calls };
}

/** Without typesetting. */
export function lastLineOf(reply: string): string {
  const line = reply.trimEnd().slice(-200).split('\n').at(-1) ?? '';
  return line.replace(/[`*.]/g, '').trim();
}

/** The grade of an answer that the verifier was asked about; `ungraded` where it failed, or said neither word. */
export function verifiedGrade(
  { verification, ...byRule }: RuleGrade,
  { model }: ModelCard,
  { said, problem }: VerifierReply,
): Grade {
  const verdict =
    said === verification?.correct ? 'correct' : said === verification?.wrong ? 'wrong' : 'ungraded';
  return {
    verdict,
    extracted: byRule.extracted,
    reason: verdict === 'ungraded' ? problem : `${byRule.reason}; ${model} says ${verdict}`,
    graderVersion: `${byRule.graderVersion} verifier/${model}`,
  };
}

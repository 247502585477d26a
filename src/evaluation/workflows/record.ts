import type { Grade } from '../../grading/verdict';
import { FAILURES } from '../../protocol/failures';
import type { SolveTrace } from '../../protocol/solve';
import { ownRound } from '../../trace/run-tree';
import { limitIn } from '../../workflows/failures';
import type { Method } from '../methods/method';
import type { MethodRecord } from '../records';
import { addSpent, isLost, NOTHING_SPENT, spentOn } from '../spent';
import { gradeWithSteps } from './outputs';
import type { Played, SolveRun, Trial } from './trial';

interface Recorded {
  readonly name: string;
  readonly method: Method;
  readonly played: Played;
  readonly reference: MethodRecord | null;
}

/** What is kept of a method on a question, its answer judged. */
export async function recordOf(trial: Trial, recorded: Recorded): Promise<MethodRecord> {
  const { input, question } = trial;
  const { name, method, played, reference } = recorded;
  const { runs, answer } = played;
  const traces = runs.flatMap(({ trace }) => trace ?? []);
  const calls = traces.flatMap((trace) => trace.calls);
  const { outputs, ...grade } = await gradeOf(trial, played);
  // A changed plan had to be written all the same.
  const inherited = method.kind === 'rewrite' && reference !== null ? reference.planning : NOTHING_SPENT;
  const planning = spentOn(calls.filter(({ purpose }) => purpose !== 'step'));
  return {
    evaluation: input.id,
    method: name,
    question: question.id,
    index: input.question.index,
    topic: question.topic ?? null,
    verdict: grade.verdict,
    extracted: grade.extracted,
    reason: grade.reason,
    graderVersion: grade.graderVersion,
    answer,
    runs: runs.map(({ id }) => id),
    spent: addSpent(inherited, spentOn(calls)),
    lost: calls.filter(isLost).length,
    planning: addSpent(inherited, planning),
    latencyMs: sum(runs.map(({ latencyMs }) => latencyMs)),
    workers: countWorkers(traces),
    plan: (traces[0] && ownRound(traces[0], 0)?.plan) ?? null,
    ...(outputs && { outputs }),
    rounds: sum(traces.map(({ rounds }) => rounds.filter(({ steps }) => steps.length > 0).length)),
    degraded: traces.some(({ degraded }) => degraded),
    stoppedBy: traces.find(({ stoppedBy }) => stoppedBy !== null)?.stoppedBy ?? null,
  };
}

type Judgement = Omit<Grade, 'graderVersion'> & Pick<MethodRecord, 'graderVersion' | 'outputs'>;

/**
 * A method that reaches its limit without an answer, or whose models gave none, was not right: all have the same limits.
 * A provider's failure says nothing about it.
 */
async function gradeOf(trial: Trial, played: Played): Promise<Judgement> {
  const { answer, grade, outputs, runs } = played;
  if (grade !== undefined) return outputs === undefined ? grade : { ...grade, outputs };
  const judged = answer === null ? null : await gradeWithSteps(trial, answer, runs);
  return judged ?? withoutGrade(played);
}

function withoutGrade({ reason, runs }: Played): Judgement {
  const failed = runs.find(({ problem }) => problem !== null);
  return {
    verdict: failed !== undefined && isOwnFailure(failed) ? 'wrong' : 'ungraded',
    extracted: null,
    reason: failed?.problem?.message ?? reason ?? 'it led to no answer',
    graderVersion: null,
  };
}

const OWN_FAILURES: ReadonlySet<string> = new Set([FAILURES.truncated, FAILURES.refused]);

/** Whether it was a limit, or nothing but the models' own answers, that kept a solve from its own. */
function isOwnFailure({ trace, problem }: SolveRun): boolean {
  if (limitIn(problem?.type ?? '') !== null) return true;
  const steps = trace?.rounds.flatMap((round) => round.steps) ?? [];
  return steps.length > 0 && steps.every(({ error }) => error === null || OWN_FAILURES.has(error.type));
}

function countWorkers(traces: readonly SolveTrace[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { rounds } of traces) {
    for (const step of rounds.flatMap((round) => round.steps)) {
      if (step.startedAt === null || step.error !== null) continue;
      counts[step.worker] = (counts[step.worker] ?? 0) + 1;
    }
  }
  return counts;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

import type { Client } from '@temporalio/client';
import { type KnownRun, readRun } from '../../client/trace-reader';
import { grade, type Verdict } from '../../grading/grade';
import type { Question } from '../../grading/question';
import type { Plan } from '../../plan/plan';
import type { SolveTrace } from '../../protocol/solve';
import type { Store } from '../../store/store';
import { readText } from '../../store/texts';
import { ownRound } from '../../trace/run-tree';
import { normalizeQuestion } from '../../evaluation/data/question-index';

/** The first plan of a solve of a question whose right answer is known, with what its own answer was worth. */
export interface GradedSolve {
  readonly question: string;
  readonly plan: Plan;
  /** Ids in the order of its prompt. */
  readonly workers: readonly string[];
  readonly verdict: Verdict;
}

/**
 * Grades a solve by the questions that there are. null for one of another question, for a child, and for one that has no
 * answer yet or no plan but the stand-in.
 *
 * @throws WorkflowNotFoundError for a run that the server does not know
 */
export async function gradeSolve(
  { client, store, questions }: { client: Client; store: Store; questions: readonly Question[] },
  id: string,
): Promise<GradedSolve | null> {
  let known: KnownRun | undefined;
  for await (known of readRun(client, id, false));
  if (!known?.origin || known.origin.input.parent !== undefined) return null;
  const { trace, origin } = known;
  const { plan, answer } = firstRound(trace);
  if (plan === null || answer === null) return null;
  const asked = normalizeQuestion(await readText(store, trace.question));
  const question = questions.find((each) => normalizeQuestion(each.question) === asked);
  if (question === undefined) return null;
  const workers = origin.run.workers.map((worker) => worker.id);
  const { verdict } = await grade(question, await readText(store, answer));
  return { question: question.question, plan, workers, verdict };
}

/** No plan where the Conductor was asked for the first one and wrote none: another stood in. */
function firstRound(trace: SolveTrace): Pick<SolveTrace['rounds'][number], 'plan' | 'answer'> {
  const { plan = null, answer = null } = ownRound(trace, 0) ?? {};
  const last = trace.calls.findLast(({ step, round, childId }) => step === null && round === 0 && !childId);
  const isWritten = last === undefined || last.error === null;
  return { plan: isWritten ? plan : null, answer };
}

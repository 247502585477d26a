import type { Client } from '@temporalio/client';
import { readRunNow } from '../../client';
import { normalizeQuestion } from '../../evaluation/data';
import { grade, type Verdict } from '../../grading/grade';
import { type Question, wholeQuestion } from '../../grading/question';
import type { Plan } from '../../plan/plan';
import type { SolveTrace } from '../../protocol/solve';
import type { Store } from '../../store/store';
import { readText } from '../../store/texts';
import { ownRound } from '../../trace/run-tree';
import type { TrainingExample } from '../records';
import { type AskedHow, rightPlansOf } from '../activities/examples';
import { readCycleGroups, readMetrics, readTrainQuestions } from '../activities/records';

/** Returns the right plans of a training run, each once, and how many this configuration could not carry out. */
export async function examplesOfRun(trainRun: string, asked: AskedHow): ReturnType<typeof rightPlansOf> {
  const questions = await readTrainQuestions(asked.store, trainRun);
  const examples = new Map<string, TrainingExample>();
  let unfit = 0;
  for (const { cycle } of await readMetrics(asked.store, trainRun)) {
    for (const group of await readCycleGroups(asked.store, trainRun, cycle)) {
      const right = await rightPlansOf(group, questions.get(group.question), asked);
      unfit += right.unfit;
      for (const example of right.examples) examples.set(JSON.stringify(example), example);
    }
  }
  return { examples: [...examples.values()], unfit };
}

export interface GradedSolve {
  readonly question: string;
  readonly plan: Plan;
  readonly workers: readonly string[];
  readonly verdict: Verdict;
}

/** Grades a solve; null for another question, for a child, and without an answer or a plan of its own. */
export async function gradeSolve(
  { client, store, questions }: { client: Client; store: Store; questions: readonly Question[] },
  id: string,
): Promise<GradedSolve | null> {
  const { trace, input, run } = await readRunNow(client, id);
  if (run === null || input.parent !== undefined) return null;
  // The last turn alone does not identify a conversation.
  if (input.messages !== undefined || input.conversation !== undefined) return null;
  const { plan, answer } = firstRound(trace);
  if (plan === null || answer === null) return null;
  const asked = normalizeQuestion(await readText(store, trace.question));
  const question = questions.find((each) => normalizeQuestion(wholeQuestion(each)) === asked);
  if (question === undefined) return null;
  const workers = run.workers.map((worker) => worker.id);
  const { verdict } = await grade(question, await readText(store, answer));
  return { question: question.question, plan, workers, verdict };
}

/** Returns the first round, without its plan if the Conductor failed to write it and another stood in. */
function firstRound(trace: SolveTrace): Pick<SolveTrace['rounds'][number], 'plan' | 'answer'> {
  const { plan = null, answer = null } = ownRound(trace, 0) ?? {};
  const last = trace.calls.findLast(({ step, round, childId }) => step === null && round === 0 && !childId);
  const isWritten = last === undefined || last.error === null;
  return { plan: isWritten ? plan : null, answer };
}

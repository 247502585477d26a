import type { Text } from '../../protocol/text';
import { ownRound } from '../../trace/run-tree';
import type { Answers } from '../contract';
import type { Form, Method, Team } from '../methods/method';
import { everyone } from '../methods/plans';
import { attempts, choicesAmong, choosing, MOST_ATTEMPTS, mostFrequent, toCompare } from '../methods/samples';
import type { MethodRecord } from '../results';
import { spentOn, unitOf } from '../spent';
import { type MethodResult, nothingOf, type QuestionContext, type SolveRun } from './question-context';

/** Attempts in one run: few enough for its limits. */
const MOST_TOGETHER = 8;

/**
 * Samples until one more attempt, at the highest cost so far, would exceed the Conductor's cost, or until there are
 * `MOST_ATTEMPTS`. The first attempt is always made. Null if the budget ran out.
 */
export async function playSamples(
  context: QuestionContext,
  name: string,
  { worker, form: wanted, choose }: Extract<Method, { readonly kind: 'samples' }>,
  reference: MethodRecord | null,
): Promise<MethodResult | null> {
  if (reference === null || reference.verdict === 'ungraded') {
    return nothingOf('what the Conductor costs on this question is not known, since it failed');
  }
  const measure = unitOf(reference.spent);
  const form = context.formOf(worker, wanted);
  const runs: SolveRun[] = [];
  const answers: (Text | null)[] = [];
  const costs: number[] = [];
  for (let count = 1; count > 0;) {
    const run = await context.runPlan(name, attempts(worker, form, answers.length + 1, count), {
      form,
      part: runs.length + 1,
    });
    if (run === null) return null;
    runs.push(run);
    answers.push(...outputsOf(run));
    costs.push(...(run.trace?.calls.map((call) => measure(spentOn([call]))) ?? []));
    const left = costs.reduce((rest, cost) => rest - cost, measure(reference.spent));
    const choices = choose === 'judge' ? choicesAmong(answers.length + MOST_TOGETHER) : 0;
    count = Math.min(MOST_TOGETHER, MOST_ATTEMPTS - answers.length, fitting(left, costs) - choices);
  }
  if (answers.length === 0) return { runs, answer: null };
  return choose === 'vote'
    ? countVotes(context, runs, answers)
    : chooseBest(context, name, { worker, form }, { runs, answers });
}

/** Has every worker answer, and counts the answers as votes. Null if the budget ran out. */
export async function playAgreement(
  context: QuestionContext,
  name: string,
  team: Team,
): Promise<MethodResult | null> {
  const run = await context.runPlan(
    name,
    everyone(team, (id) => context.formOf(id)),
    { form: 'bare' },
  );
  if (run === null) return null;
  const answers = outputsOf(run);
  return answers.length === 0 ? { runs: [run], answer: null } : countVotes(context, [run], answers);
}

function outputsOf({ trace }: SolveRun): Answers {
  return trace === null ? [] : (ownRound(trace, 0)?.steps.map(({ output }) => output) ?? []);
}

/** Returns how many calls at the highest cost so far the rest pays for; 0 if no call had a known cost. */
function fitting(left: number, costs: readonly number[]): number {
  const highest = Math.max(0, ...costs);
  return highest === 0 ? 0 : Math.floor(left / highest);
}

async function countVotes(
  context: QuestionContext,
  runs: readonly SolveRun[],
  answers: Answers,
): Promise<MethodResult> {
  const grades = await context.grade(answers);
  const place = mostFrequent(grades.map(({ extracted, sameAs }) => sameAs ?? extracted)) ?? 0;
  const outputs = [grades.map(({ verdict }) => verdict)];
  const grade = grades[place];
  return { runs, answer: answers[place] ?? null, grade: grade && { ...grade, outputs } };
}

/** Has the worker choose among its answers, group by group. An attempt that failed is shown as an empty output. */
async function chooseBest(
  context: QuestionContext,
  name: string,
  { worker, form }: { readonly worker: string; readonly form: Form },
  { runs, answers }: { runs: SolveRun[]; answers: Answers },
): Promise<MethodResult | null> {
  let best = answers;
  while (best.length > 1) {
    const winners: (Text | null)[] = [];
    for (const group of toCompare(best)) {
      const outputs = [...group.map((answer) => answer ?? ''), null];
      const run = await context.runPlan(name, choosing(worker, form, group.length), {
        form,
        part: runs.length + 1,
        outputs,
      });
      if (run === null) return null;
      runs.push(run);
      winners.push(run.trace?.answer ?? null);
    }
    best = winners;
  }
  return { runs, answer: best[0] ?? null };
}

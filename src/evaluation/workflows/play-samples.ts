import type { SolveTrace } from '../../protocol/solve';
import type { Text } from '../../protocol/text';
import { ownRound } from '../../trace/run-tree';
import type { Method } from '../methods/method';
import { attempts, choicesAmong, choosing, MOST_ATTEMPTS, mostFrequent, toCompare } from '../methods/samples';
import type { MethodRecord, Spent } from '../records';
import { spentOn, unitOf } from '../spent';
import { type MethodResult, nothingOf, type QuestionContext, type SolveRun } from './question-context';

type Samples = Extract<Method, { readonly kind: 'samples' }>;

/** Attempts that are made together: few enough for the limits of one run. */
const MOST_TOGETHER = 8;

/**
 * Samples until one more, at the highest cost so far, would exceed the Conductor's cost, or until there are
 * `MOST_ATTEMPTS`. The first is made in any case. Null where the money did not last.
 */
export async function playSamples(
  context: QuestionContext,
  name: string,
  { worker, choose }: Samples,
  reference: MethodRecord | null,
): Promise<MethodResult | null> {
  if (reference === null || reference.verdict === 'ungraded') {
    return nothingOf('what the Conductor costs on this question is not known, since it failed');
  }
  const made = new Attempts(reference.spent);
  for (let count = 1; count > 0; count = made.fitting(choose === 'judge')) {
    const plan = attempts(worker, made.answers.length + 1, count);
    const run = await context.runPlan(name, plan, made.runs.length + 1);
    if (run === null) return null;
    made.add(run);
  }
  if (made.answers.length === 0) return { runs: made.runs, answer: null };
  return choose === 'vote' ? countVotes(context, made) : chooseBest(context, name, worker, made);
}

/** Attempts made so far, and the cost that is left for more. */
class Attempts {
  readonly runs: SolveRun[] = [];
  readonly answers: (Text | null)[] = [];
  private readonly measure: (spent: Spent) => number;
  private left: number;
  private highestCost = 0;

  constructor(price: Spent) {
    this.measure = unitOf(price);
    this.left = this.measure(price);
  }

  add(run: SolveRun): void {
    this.runs.push(run);
    if (run.trace === null) return;
    this.answers.push(...outputsOf(run.trace));
    for (const call of run.trace.calls) {
      const cost = this.measure(spentOn([call]));
      this.left -= cost;
      this.highestCost = Math.max(this.highestCost, cost);
    }
  }

  /** How many more may be made together. @param isChosen choosing among them takes calls, too */
  fitting(isChosen: boolean): number {
    if (this.highestCost === 0) return 0;
    const choices = isChosen ? choicesAmong(this.answers.length + MOST_TOGETHER) : 0;
    const fitting = Math.floor(this.left / this.highestCost - choices);
    return Math.min(fitting, MOST_TOGETHER, MOST_ATTEMPTS - this.answers.length);
  }
}

function outputsOf(trace: SolveTrace): readonly (Text | null)[] {
  return ownRound(trace, 0)?.steps.map(({ output }) => output) ?? [];
}

type Made = Pick<Attempts, 'runs' | 'answers'>;

async function countVotes(context: QuestionContext, { runs, answers }: Made): Promise<MethodResult> {
  const grades = await context.grade(answers);
  const place = mostFrequent(grades.map(({ extracted, sameAs }) => sameAs ?? extracted)) ?? 0;
  const outputs = [grades.map(({ verdict }) => verdict)];
  const grade = grades[place];
  return { runs, answer: answers[place] ?? null, grade: grade && { ...grade, outputs } };
}

/** An attempt that failed is shown as an empty output. */
async function chooseBest(
  context: QuestionContext,
  name: string,
  worker: string,
  { runs, answers }: Made,
): Promise<MethodResult | null> {
  if (answers.length === 1) return { runs, answer: answers[0] ?? null };
  const made = [...runs];
  const winners: (Text | null)[] = [];
  for (const group of toCompare(answers)) {
    const outputs = [...group.map((answer) => answer ?? ''), null];
    const run = await context.runPlan(name, choosing(worker, group.length), made.length + 1, outputs);
    if (run === null) return null;
    made.push(run);
    winners.push(run.trace?.answer ?? null);
  }
  return chooseBest(context, name, worker, { runs: made, answers: winners });
}

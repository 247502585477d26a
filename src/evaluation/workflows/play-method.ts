import type { Grade } from '../../grading/verdict';
import type { Plan } from '../../plan/plan';
import { MAX_STEPS } from '../../protocol/messages';
import type { SolveTrace } from '../../protocol/solve';
import type { Text } from '../../protocol/text';
import { ownRound } from '../../trace/run-tree';
import type { Method, Team } from '../methods/method';
import { attempts, choosing, mostFrequent } from '../methods/samples';
import type { MethodRecord } from '../records';
import { addSpent, NOTHING_SPENT, spentOn, unitOf } from '../spent';
import type { SolveRun, Trial } from './trial';

/** What a method made of the question. */
export interface Played {
  readonly runs: readonly SolveRun[];
  readonly answer: Text | null;
  /** Set where the answer was graded on the way. */
  readonly grade?: Grade;
  /** Why there is nothing to be judged, though no solve of it failed. */
  readonly reason?: string;
}

interface Tried<Kind extends Method['kind'] = Method['kind']> {
  readonly name: string;
  readonly method: Extract<Method, { readonly kind: Kind }>;
  readonly team: Team;
  /** What the Conductor made of the question; null for its own turn. */
  readonly reference: MethodRecord | null;
}

/** Tries a method on the question; null where the money did not last for it. */
export function playMethod(trial: Trial, tried: Tried): Promise<Played | null> {
  const { method, name, team, reference } = tried;
  switch (method.kind) {
    case 'conductor': {
      const { depth, steps } = method;
      return playOnce(trial.solve(name, { limits: { depth, ...(steps !== undefined && { steps }) } }));
    }
    case 'plan':
      return playOnce(runPlan(trial, name, method.write(team)));
    case 'rewrite': {
      const plan = reference?.plan ?? null;
      if (plan === null) return Promise.resolve(nothing('the Conductor wrote no plan that could be changed'));
      return playOnce(runPlan(trial, name, method.rewrite(plan, team)));
    }
    case 'samples':
      return playSamples(trial, { ...tried, method });
  }
}

async function playOnce(solving: Promise<SolveRun | null>): Promise<Played | null> {
  const run = await solving;
  return run && { runs: [run], answer: run.trace?.answer ?? null };
}

function runPlan(trial: Trial, name: string, plan: Plan, part?: number): Promise<SolveRun | null> {
  const outputs = plan.steps.map(() => null);
  const limits = { steps: plan.steps.length, depth: 0 };
  return trial.solve(name, { given: { plan, outputs }, limits, part });
}

function nothing(reason: string): Played {
  return { runs: [], answer: null, reason };
}

/** Attempts that are made together: few enough for the limits of one run. */
const MOST_TOGETHER = 8;
/** One more chooses among them. */
const MOST_ATTEMPTS = MAX_STEPS - 1;

/**
 * Makes attempts as long as another one, as dear as the dearest so far, fits what the Conductor cost: so the costs of both
 * differ by less than a call. The first is made in any case.
 */
async function playSamples(trial: Trial, tried: Tried<'samples'>): Promise<Played | null> {
  const { name, method, reference } = tried;
  const { worker, choose } = method;
  if (reference === null || reference.verdict === 'ungraded') {
    return nothing('what the Conductor costs on this question is not known, since it failed');
  }
  const measure = unitOf(reference.spent);
  const price = measure(reference.spent);
  const runs: SolveRun[] = [];
  const answers: (Text | null)[] = [];
  let [spent, dearest] = [0, 0];
  for (let count = 1; count > 0; ) {
    const run = await runPlan(trial, name, attempts(worker, answers.length + 1, count), runs.length + 1);
    if (run === null) return null;
    runs.push(run);
    if (run.trace === null) break;
    const calls = run.trace.calls.map((call) => measure(spentOn([call])));
    spent += calls.reduce((sum, each) => sum + each, 0);
    dearest = Math.max(dearest, ...calls);
    answers.push(...outputsOf(run.trace));
    // The choice among them is a call, too.
    const left = price - spent - (choose === 'judge' ? dearest : 0);
    const fitting = dearest === 0 ? 0 : Math.floor(left / dearest);
    count = Math.min(fitting, MOST_TOGETHER, MOST_ATTEMPTS - answers.length);
  }
  if (answers.length === 0) return { runs, answer: null };
  if (choose === 'vote') return { runs, ...(await countVotes(trial, answers)) };
  return answers.length === 1 ? { runs, answer: answers[0] ?? null } : chooseBest(trial, tried, { runs, answers });
}

function outputsOf(trace: SolveTrace): readonly (Text | null)[] {
  return ownRound(trace, 0)?.steps.map(({ output }) => output) ?? [];
}

async function countVotes(
  trial: Trial,
  answers: readonly (Text | null)[],
): Promise<Pick<Played, 'answer' | 'grade'>> {
  const grades = await trial.grade(answers);
  const place = mostFrequent(grades.map(({ extracted }) => extracted)) ?? 0;
  return { answer: answers[place] ?? null, grade: grades[place] };
}

async function chooseBest(
  trial: Trial,
  { name, method: { worker } }: Tried<'samples'>,
  { runs, answers }: { readonly runs: readonly SolveRun[]; readonly answers: readonly (Text | null)[] },
): Promise<Played | null> {
  const plan = choosing(worker, answers.length);
  // What failed is shown as an empty output.
  const outputs = [...answers.map((answer) => answer ?? ''), null];
  const limits = { steps: plan.steps.length, depth: 0 };
  const run = await trial.solve(name, { given: { plan, outputs }, limits, part: runs.length + 1 });
  return run && { runs: [...runs, run], answer: run.trace?.answer ?? null };
}

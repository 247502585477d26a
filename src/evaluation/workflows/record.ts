import type { Grade } from '../../grading/verdict';
import type { Text } from '../../protocol/text';
import { roundsOf } from '../../trace/run-tree';
import { limitIn } from '../../workflows/failures';
import type { LoggedSolve } from '../contract';
import type { Method } from '../methods/method';
import type { MethodRecord, Spent } from '../records';
import { addSpent, factsOf, NOTHING_SPENT } from '../spent';
import { OWN_FAILURES } from './attempts';
import { compare, verify } from './judge';
import type { GradeWithSteps, MethodResult, QuestionContext, SolveRun } from './question-context';

/** Sums up the solves that a method took. */
export function solvedBy(
  method: Method,
  { runs, answer }: MethodResult,
  reference: MethodRecord | null,
): LoggedSolve {
  const facts = factsOf(runs.flatMap(({ trace }) => trace ?? []));
  // A changed plan had to be written all the same.
  const inherited = method.kind === 'rewrite' && reference !== null ? reference.planning : NOTHING_SPENT;
  return {
    ...facts,
    answer,
    runs: runs.map(({ id }) => id),
    spent: addSpent(inherited, facts.spent),
    planning: addSpent(inherited, facts.planning),
    latencyMs: runs.reduce((total, { latencyMs }) => total + latencyMs, 0),
  };
}

interface Recorded {
  readonly name: string;
  readonly solved: LoggedSolve;
  readonly result: MethodResult;
  readonly reference: MethodRecord | null;
}

/** Judges a method's answer to a question and makes its record; null if the budget ran out first. */
export async function recordOf(
  context: QuestionContext,
  { name, solved, result, reference }: Recorded,
): Promise<MethodRecord | null> {
  const { input, question } = context;
  const judgement = await judgementOf(context, name, result);
  const compared = judgement && (await compare(context, name, solved.answer, reference));
  if (judgement === null || compared === null) return null;
  const { grade, judging, outputs } = judgement;
  const { preference } = compared;
  const spent = addSpent(judging, compared.judging);
  return {
    evaluation: input.id,
    method: name,
    question: question.id,
    index: input.question.index,
    topic: question.topic ?? null,
    ...grade,
    ...solved,
    ...(outputs && { outputs }),
    ...(spent.calls > 0 && { judging: spent }),
    ...(preference !== null && { preference }),
  };
}

/** A grade, and what it cost beside the method itself. */
interface Judgement extends Pick<MethodRecord, 'outputs'> {
  readonly grade: Omit<Grade, 'graderVersion'> & Pick<MethodRecord, 'graderVersion'>;
  readonly judging: Spent;
}

/**
 * A method that reaches its limit without an answer, or whose models gave none, was not right: all have the same limits.
 * A provider's failure says nothing about it.
 */
async function judgementOf(
  context: QuestionContext,
  name: string,
  result: MethodResult,
): Promise<Judgement | null> {
  const { answer, runs } = result;
  const grade = result.grade ?? (answer === null ? null : await gradeWithSteps(context, answer, runs));
  if (grade === null) return withoutGrade(result);
  const { outputs, ...byRule } = grade;
  const verified = await verify(context, name, byRule);
  // An answer that the verifier accepts was not lost on the way.
  return verified && { ...verified, ...(verified.grade.verdict === 'wrong' && { outputs }) };
}

/** The grade of an answer; where it is wrong, those of the outputs that led to it, too. */
async function gradeWithSteps(
  context: QuestionContext,
  answer: Text,
  runs: readonly SolveRun[],
): Promise<GradeWithSteps | null> {
  const rounds = outputsOf(runs);
  const [grade = null, ...onTheWay] = await context.grade([answer], rounds.flat());
  if (grade === null || onTheWay.length === 0) return grade;
  let at = 0;
  const outputs = rounds.map(({ length }) =>
    onTheWay.slice(at, (at += length)).map(({ verdict }) => verdict),
  );
  return { ...grade, outputs };
}

/** Outputs of the steps, round by round; the attempts of several solves count as one round. */
function outputsOf(runs: readonly SolveRun[]): readonly (readonly (Text | null)[])[] {
  const rounds = runs.flatMap(({ trace }) => (trace === null ? [] : roundsOf(trace)));
  const outputs = rounds.map(({ steps }) => steps.map(({ output }) => output));
  return runs.length > 1 ? [outputs.flat()] : outputs;
}

function withoutGrade({ reason, runs }: MethodResult): Judgement {
  const failed = runs.find(({ problem }) => problem !== null);
  return {
    grade: {
      verdict: failed !== undefined && isOwnFailure(failed) ? 'wrong' : 'ungraded',
      extracted: null,
      reason: failed?.problem?.message ?? reason ?? 'it led to no answer',
      graderVersion: null,
    },
    judging: NOTHING_SPENT,
  };
}

/** Whether it was a limit, or nothing but the models' own answers, that kept a solve from its own. */
function isOwnFailure({ trace, problem }: SolveRun): boolean {
  if (limitIn(problem?.type ?? '') !== null) return true;
  const steps = trace?.rounds.flatMap((round) => round.steps) ?? [];
  return steps.length > 0 && steps.every(({ error }) => error === null || OWN_FAILURES.has(error.type));
}

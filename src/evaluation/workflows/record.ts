import type { Grade } from '../../grading/verdict';
import type { Text } from '../../protocol/text';
import { roundsOf } from '../../trace/run-tree';
import { limitIn } from '../../workflows/failures';
import type { LoggedSolve, RuleGrade } from '../contract';
import { factsOf } from '../facts';
import type { Method } from '../methods/method';
import type { MethodRecord, Spent } from '../records';
import { addSpent, NOTHING_SPENT } from '../spent';
import { OWN_FAILURES } from './attempts';
import { compare, verify } from './judge';
import type { Played, SolveRun, Trial } from './trial';

interface Recorded {
  readonly name: string;
  readonly method: Method;
  readonly played: Played;
  readonly reference: MethodRecord | null;
}

/** Judges a method's answer to a question and makes its record; null if the budget ran out first. */
export async function recordOf(trial: Trial, recorded: Recorded): Promise<MethodRecord | null> {
  const { name, method, played, reference } = recorded;
  const { runs, answer } = played;
  const facts = factsOf(runs.flatMap(({ trace }) => trace ?? []));
  // A changed plan had to be written all the same.
  const inherited = method.kind === 'rewrite' && reference !== null ? reference.planning : NOTHING_SPENT;
  const solved: LoggedSolve = {
    ...facts,
    answer,
    runs: runs.map(({ id }) => id),
    spent: addSpent(inherited, facts.spent),
    planning: addSpent(inherited, facts.planning),
    latencyMs: runs.reduce((total, { latencyMs }) => total + latencyMs, 0),
  };
  return keep(trial, name, { solved, judgement: await judgementOf(trial, name, played), reference });
}

/** Makes the record of a solve that the log has already. */
export async function recordLogged(
  trial: Trial,
  name: string,
  solved: LoggedSolve,
): Promise<MethodRecord | null> {
  const judgement = await judgementOf(trial, name, { runs: [], answer: solved.answer });
  return keep(trial, name, { solved, judgement, reference: null });
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
async function judgementOf(trial: Trial, name: string, played: Played): Promise<Judgement | null> {
  const judged = await gradedOf(trial, played);
  if (judged === null) return withoutGrade(played);
  const { outputs, ...byRule } = judged;
  const verified = await verify(trial, name, byRule);
  // What a verifier took for right was not lost on the way.
  return verified && { ...verified, ...(verified.grade.verdict === 'wrong' && { outputs }) };
}

async function gradedOf(
  trial: Trial,
  { answer, grade, outputs, runs }: Played,
): Promise<GradeWithSteps | null> {
  if (grade !== undefined) return { ...grade, outputs };
  return answer === null ? null : gradeWithSteps(trial, answer, runs);
}

type GradeWithSteps = RuleGrade & Pick<MethodRecord, 'outputs'>;

/** The grade of an answer; where it is wrong, those of the outputs that led to it, too. */
async function gradeWithSteps(
  trial: Trial,
  answer: Text,
  runs: readonly SolveRun[],
): Promise<GradeWithSteps | null> {
  const rounds = outputsOf(runs);
  const [grade, ...onTheWay] = await trial.grade([answer], rounds.flat());
  if (grade === undefined || onTheWay.length === 0) return grade ?? null;
  let at = 0;
  const outputs = rounds.map(({ length }) =>
    onTheWay.slice(at, (at += length)).map(({ verdict }) => verdict),
  );
  return { ...grade, outputs };
}

/** What the steps answered, round by round; of several solves, which are attempts, in one round. */
function outputsOf(runs: readonly SolveRun[]): readonly (readonly (Text | null)[])[] {
  const rounds = runs.flatMap(({ trace }) => (trace === null ? [] : roundsOf(trace)));
  const outputs = rounds.map(({ steps }) => steps.map(({ output }) => output));
  return runs.length > 1 ? [outputs.flat()] : outputs;
}

function withoutGrade({ reason, runs }: Played): Judgement {
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

interface Kept {
  readonly solved: LoggedSolve;
  readonly judgement: Judgement | null;
  readonly reference: MethodRecord | null;
}

async function keep(
  trial: Trial,
  name: string,
  { solved, judgement, reference }: Kept,
): Promise<MethodRecord | null> {
  const { input, question } = trial;
  const compared = judgement && (await compare(trial, name, solved.answer, reference));
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

import type { ModelCard } from '../../protocol/cards';
import type { Text } from '../../protocol/text';
import { roundsOf } from '../../trace/run-tree';
import { limitIn, storeActivities } from '../../workflows/parts';
import type { EvaluationActivities } from '../activities';
import { COMPARE_ANSWERS, type Judging, type RuleGrade } from '../contract';
import type { MethodRecord, Preference, Spent } from '../results';
import { NOTHING_SPENT, spentOn } from '../spent';
import { foreignFailureIn } from './attempts';
import { verifiedGrade } from './grading';
import type { GradeWithSteps, MethodResult, QuestionContext, SolveRun } from './question-context';

type Verdict = Pick<MethodRecord, 'verdict' | 'extracted' | 'reason' | 'graderVersion'>;

type Judgement = Verdict & Pick<MethodRecord, 'outputs'> & { readonly judging: Spent };

/**
 * Judges a method's answer; null if the budget ran out. A method that reaches a limit or whose models give no answer
 * is wrong, since all methods have the same limits. A provider's failure leaves it ungraded.
 */
export async function judgeResult(
  context: QuestionContext,
  name: string,
  result: MethodResult,
): Promise<Judgement | null> {
  const { answer, runs } = result;
  const grade = result.grade ?? (answer === null ? null : await gradeWithSteps(context, answer, runs));
  if (grade === null) return { ...withoutGrade(result), judging: NOTHING_SPENT };
  const { outputs, ...byRule } = grade;
  const verified = await verify(context, name, byRule);
  // If the verifier accepts the answer, no step's right output was lost.
  return verified && { ...verified, ...(verified.verdict === 'wrong' && outputs && { outputs }) };
}

/** Returns the rule's verdict, or the verifier's if the grade calls for one; null if the budget ran out. */
async function verify(
  context: QuestionContext,
  name: string,
  { verification, ...byRule }: RuleGrade,
): Promise<Judgement | null> {
  const { verifier } = context.input;
  if (verification === undefined || verifier === undefined) return { ...byRule, judging: NOTHING_SPENT };
  const asked = await context.ask(verifier, verification, `verifier of ${name}`);
  const grade = asked && verifiedGrade(byRule, verifier, asked);
  return grade && { ...grade, judging: spentOn(asked.calls) };
}

async function gradeWithSteps(
  context: QuestionContext,
  answer: Text,
  runs: readonly SolveRun[],
): Promise<GradeWithSteps | null> {
  const rounds = outputsOf(runs);
  const [grade = null, ...onTheWay] = await context.grade([answer], rounds.flat());
  if (grade === null || onTheWay.length === 0) return grade;
  const outputs = rounds.map(({ length }) => onTheWay.splice(0, length).map(({ verdict }) => verdict));
  return { ...grade, outputs };
}

/** Returns the outputs of the steps by round; the attempts of several solves count as one round. */
function outputsOf(runs: readonly SolveRun[]): readonly (readonly (Text | null)[])[] {
  const rounds = runs.flatMap(({ trace }) => (trace === null ? [] : roundsOf(trace)));
  const outputs = rounds.map(({ steps }) => steps.map(({ output }) => output));
  return runs.length > 1 ? [outputs.flat()] : outputs;
}

function withoutGrade({ reason, runs }: MethodResult): Verdict {
  const failed = runs.find(({ problem }) => problem !== null);
  return {
    verdict: failed !== undefined && isOwnFailure(failed) ? 'wrong' : 'ungraded',
    extracted: null,
    reason: failed?.problem?.message ?? reason ?? 'it led to no answer',
    graderVersion: null,
  };
}

/** Whether a limit or its models' own failures, not a provider's, kept a solve from answering. */
function isOwnFailure({ trace, problem }: SolveRun): boolean {
  if (limitIn(problem?.type ?? '') !== null) return true;
  const hasSteps = trace?.rounds.some(({ steps }) => steps.length > 0) ?? false;
  return trace !== null && hasSteps && foreignFailureIn(trace) === null;
}

type JudgedPair = Pick<MethodRecord, 'preference'> & { readonly judging: Spent };

/** Has a judge compare an answer with the reference's if no right one is known; null if the budget ran out. */
export async function compare(
  context: QuestionContext,
  name: string,
  answer: Text | null,
  reference: MethodRecord | null,
): Promise<JudgedPair | null> {
  const { input, question } = context;
  const { verifier, compares = false } = input;
  if (!compares || verifier === undefined || question.isOpen !== true || reference === null) {
    return { judging: NOTHING_SPENT };
  }
  return askInBothOrders(context, verifier, { name, answer, reference });
}

/** Judges a pair in both orders; an answer is preferred only if it wins both times. */
async function askInBothOrders(
  context: QuestionContext,
  verifier: ModelCard,
  { name, answer, reference }: { name: string; answer: Text | null; reference: MethodRecord },
): Promise<JudgedPair | null> {
  const preferred = (
    outcome: Preference['outcome'],
    reason: string,
    judging = NOTHING_SPENT,
  ): JudgedPair => ({
    preference: { over: reference.method, outcome, reason },
    judging,
  });
  const [inOrder, reversed] = await putSideBySide(context, answer, reference.answer);
  if (!inOrder || !reversed) {
    return preferred('unjudged', 'an answer is missing, empty or too long to be compared');
  }
  const one = await context.ask(verifier, inOrder, `judge of ${name}`);
  const other = one && (await context.ask(verifier, reversed, `judge of ${name}, reversed`));
  if (one === null || other === null) return null;
  const judging = spentOn([...one.calls, ...other.calls]);
  if (one.chosen === null) return preferred('unjudged', one.problem, judging);
  if (other.chosen === null) return preferred('unjudged', other.problem, judging);
  const own = outcomeOfChoice(one.chosen, ['won', 'lost']);
  const again = outcomeOfChoice(other.chosen, ['lost', 'won']);
  const { model } = verifier;
  return own === again
    ? preferred(own, `${model} says so in both orders`, judging)
    : preferred('tied', `${model} says ${own} in one order and ${again} in the other`, judging);
}

/** Maps the chosen text (first, second or neither) to the outcome for the method's answer. */
function outcomeOfChoice(
  chosen: number,
  [first, second]: ['won' | 'lost', 'won' | 'lost'],
): Preference['outcome'] {
  return [first, second][chosen] ?? 'tied';
}

async function putSideBySide(
  { input: { question } }: QuestionContext,
  one: Text | null,
  other: Text | null,
): Promise<readonly (Judging | null)[]> {
  if (one === null || other === null) return [];
  const activities = storeActivities<EvaluationActivities>('put answers side by side');
  return activities[COMPARE_ANSWERS]({ question, answers: [one, other] });
}

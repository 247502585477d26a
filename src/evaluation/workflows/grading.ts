import { ActivityCancellationType, isCancellation, proxyActivities, rootCause } from '@temporalio/workflow';
import type { Grade } from '../../grading/verdict';
import type { Call } from '../../protocol/solve';
import type { ModelCard } from '../../protocol/cards';
import { inWindow, lastOutputOf, runGiven, runWithin, textOf } from '../../workflows/parts';
import type { EvaluationActivities } from '../activities';
import {
  type Answers,
  type CustomGrader,
  type CustomGradeRequest,
  GRADE_ANSWERS,
  type Judging,
  NO_ANSWER,
  type RuleGrade,
} from '../contract';
import type { Attempt } from '../results';
import type { Attempts, Ungraded } from './attempts';

/** Grades attempts. A provider's failure or a limit of ours never counts against a plan. */
export async function gradeAttempts<Result extends Ungraded>(
  attempts: Attempts,
  played: readonly Result[],
): Promise<readonly (Result & Attempt)[]> {
  const gradable = played.filter(({ plan, invalidBecause }) => plan !== null && invalidBecause === null);
  const answers = gradable.map(({ answer }) => answer);
  const grades = answers.length === 0 ? [] : await verifyAll(attempts, await obtainGrades(attempts, answers));
  return played.map((each) => ({ ...each, ...verdictOn(each, grades[gradable.indexOf(each)]) }));
}

function verdictOn(
  { plan, invalidBecause }: Ungraded,
  grade: Grade | undefined,
): Pick<Attempt, 'verdict'> & Partial<Attempt> {
  if (grade === undefined) {
    return { verdict: plan === null && invalidBecause === null ? 'unparseable' : 'ungraded' };
  }
  const { verdict, extracted, reason, graderVersion } = grade;
  if (verdict === 'ungraded') return { verdict, invalidBecause: reason };
  return { verdict: verdict === 'correct' ? verdict : 'wrong', extracted, reason, graderVersion };
}

function verifyAll(attempts: Attempts, grades: readonly RuleGrade[]): Promise<readonly Grade[]> {
  const { verifier, window, identityOf } = attempts;
  const asked = new Map<string, Promise<VerifierReply>>();
  return inWindow(grades, window, async (grade, index) => {
    const { verification } = grade;
    if (verification === undefined || verifier === undefined) return grade;
    const [answer = ''] = verification.words;
    const call = { name: `${index}`, identity: `${identityOf(index)}/${verifier.id}` };
    const reply = asked.get(answer) ?? askVerifier(attempts, verifier, verification, call);
    asked.set(answer, reply);
    return verifiedGrade(grade, verifier, await reply);
  });
}

/** Grades answers by rule or custom grader. @param onTheWay also graded if a rule finds the first answer wrong */
export async function obtainGrades(
  { ref, question, window, traceparent }: Pick<Attempts, 'ref' | 'question' | 'window' | 'traceparent'>,
  answers: Answers,
  onTheWay: Answers = [],
): Promise<readonly RuleGrade[]> {
  // Heartbeats distinguish a lost worker from a slow comparison.
  const activities = proxyActivities<EvaluationActivities>({
    startToCloseTimeout: '30m',
    scheduleToCloseTimeout: '2h',
    heartbeatTimeout: '30s',
    cancellationType: ActivityCancellationType.TRY_CANCEL,
    summary: `grade ${answers.length} answers`,
  });
  const graded = await activities[GRADE_ANSWERS]({ question: ref, answers, onTheWay, traceparent });
  if (!('activity' in graded)) return graded;
  const { id, text } = question;
  return inWindow(answers, window, (answer) =>
    answer === null
      ? Promise.resolve(NO_ANSWER)
      : askGrader(graded, { id, question: text, answer, right: graded.right }),
  );
}

const ATTEMPTS = 3;

/** Has a custom activity judge an answer; `ungraded` if it fails for good or returns no known verdict. */
async function askGrader(grader: CustomGrader, request: CustomGradeRequest): Promise<Grade> {
  const { activity, taskQueue, timeoutMs } = grader;
  const activities = proxyActivities<Record<string, (request: CustomGradeRequest) => Promise<unknown>>>({
    taskQueue,
    scheduleToCloseTimeout: timeoutMs,
    cancellationType: ActivityCancellationType.TRY_CANCEL,
    retry: { maximumAttempts: ATTEMPTS },
    summary: `grade an answer · ${activity}`,
  });
  try {
    return readVerdict(activity, await activities[activity]?.(request));
  } catch (error) {
    if (isCancellation(error)) throw error;
    const reason = rootCause(error) ?? 'no reason was given';
    return custom('ungraded', `the grader ${activity} on task queue ${taskQueue} failed: ${reason}`);
  }
}

/** Reads a custom verdict; `unparseable` counts as wrong, since for an attempt it means an invalid plan. */
function readVerdict(activity: string, result: unknown): Grade {
  const said = typeof result === 'object' && result !== null && 'verdict' in result ? result.verdict : result;
  if (said === 'correct') return custom(said, `${activity} says so`);
  if (said === 'wrong' || said === 'unparseable') return custom('wrong', `${activity} says so`);
  const why = said === 'ungraded' ? 'could not judge it' : 'returned no known verdict';
  return custom('ungraded', `the grader ${activity} ${why}`);
}

function custom(verdict: Grade['verdict'], reason: string): Grade {
  return { verdict, extracted: null, reason, graderVersion: 'custom' };
}

export interface VerifierReply {
  /** Index of the chosen word; null if there is none, for the reason in `problem`. */
  readonly chosen: number | null;
  readonly problem: string;
  readonly calls: readonly Call[];
}

/**
 * Has a model outside the pool answer a prompt, as the only step of a run without other workers, so that its call is
 * reserved, retried, kept, booked and limited like any other.
 */
export async function askVerifier(
  { run, limits, traceparent }: Pick<Attempts, 'run' | 'limits' | 'traceparent'>,
  verifier: ModelCard,
  { prompt, words }: Judging,
  { name, ...identity }: { readonly name: string; readonly identity?: string },
): Promise<VerifierReply> {
  const context = runWithin(name, {
    question: prompt,
    run: { ...run, workers: [verifier], queuePerProvider: false },
    limits,
    traceparent,
    ...identity,
  });
  await runGiven(context, { steps: [{ worker: verifier.id, subtask: 'Judge an answer.', sees: [] }] });
  const { calls, rounds } = context.recorder.trace;
  const error = rounds[0]?.steps[0]?.error ?? null;
  const output = lastOutputOf(context);
  if (error !== null || output === null) {
    return { chosen: null, problem: `the verifier failed: ${error?.message ?? 'it gave no verdict'}`, calls };
  }
  const place = words.indexOf(lastLineOf(await textOf(output)));
  const problem = "the verifier's reply ended with none of the allowed words";
  return { chosen: place === -1 ? null : place, problem, calls };
}

/** Returns the last line of a reply, which holds the verdict, without Markdown. */
export function lastLineOf(reply: string): string {
  const line = reply.trimEnd().slice(-200).split('\n').at(-1) ?? '';
  return line.replace(/[`*.]/g, '').trim();
}

/** Returns the grade of an answer by the verifier; `ungraded` if it failed or said neither word. */
export function verifiedGrade(rule: Grade, { model }: ModelCard, { chosen, problem }: VerifierReply): Grade {
  const verdict = chosen === null ? 'ungraded' : chosen === 0 ? 'correct' : 'wrong';
  return {
    verdict,
    extracted: rule.extracted,
    reason: verdict === 'ungraded' ? problem : `${rule.reason}; ${model} says ${verdict}`,
    graderVersion: `${rule.graderVersion} verifier/${model}`,
  };
}

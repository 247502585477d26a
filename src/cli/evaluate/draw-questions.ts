import { startedRuns } from '../kit/find-run';
import type { Session } from '../kit/session';
import { say } from '../kit/terminal';
import { completedSolves, readRunNow } from '../../client';
import { ConductorError, UsageError } from '../../errors';
import { graderProblem } from '../../grading/grade';
import type { Question } from '../../grading/question';
import { LostStoreError } from '../../store/store';
import { keepText, readText } from '../../store/texts';
import { counted } from '../../trace/describe';
import { randomFrom, shuffled } from '../../statistics/chance';
import { type EvaluatedQuestion, loggedFactsOf, type LogFacts } from '../../evaluation/definitions';
import { normalizeQuestion, type PlainGrader, readQuestionFile } from '../../evaluation/data';

export interface DrawOptions {
  /** Sample size; undefined: all questions of a file, 100 of the log. */
  readonly sample?: number;
  readonly seed: number;
  readonly grader?: PlainGrader;
}

/** Whether a model may be asked to judge answers to a question. */
export function needsVerifier(question: EvaluatedQuestion): boolean {
  return question.grader === 'freeform' && question.verify === true;
}

/** Reads a file's questions, or a sample by the seed, in file order. @throws ConfigError for mistakes in the file */
export async function drawFromFile(
  file: string,
  { sample = Infinity, seed, grader }: DrawOptions,
): Promise<readonly Question[]> {
  const all = await readJudgeable(file, grader);
  const ids = all.map(({ id }) => id);
  const repeated = ids.find((id, index) => ids.indexOf(id) !== index);
  if (repeated !== undefined)
    throw new UsageError(`${file} has more than one question ${repeated}: give each its own id`);
  const drawn = new Set(shuffled(all, randomFrom(seed, 'sample')).slice(0, sample));
  return all.filter((question) => drawn.has(question));
}

/** Reads questions with right answers. @throws UsageError, ConfigError if the file is missing or wrong */
export async function readJudgeable(file: string, grader: PlainGrader | undefined): Promise<Question[]> {
  const questions = (await readQuestionFile(file, grader)).map(({ value }) => value);
  const problem = await graderProblem(questions, [file]);
  if (problem !== null) throw new UsageError(problem);
  return questions;
}

/** Maximum number of solves, the latest ones, that a sample is drawn from. */
const MOST_SOLVES = 10_000;
const DEFAULT_SAMPLE = 100;

/**
 * Draws a sample of the logged solves that have an answer, equal for an equal seed and log. Leaves out those that a
 * question alone does not repeat (a conversation, a given plan, functions of the caller), or whose texts are gone.
 *
 * @param known questions with right answers, matched by text or by the id of the solve
 */
export async function drawFromLog(
  session: Session,
  known: readonly Question[],
  { sample = DEFAULT_SAMPLE, seed }: DrawOptions,
): Promise<{ readonly questions: readonly EvaluatedQuestion[]; readonly log: LogFacts }> {
  const rightAnswerTo = answersIn(known);
  const { taskQueue } = session.config.temporal;
  const { solves, unanswered } = await completedSolves(session.temporal, {
    taskQueue,
    most: MOST_SOLVES,
    known: await startedRuns(session.server),
  });
  const latest = new Map(solves.toReversed().map((solve) => [solve.workflowId, solve]));
  const inOrder = [...latest.values()].sort((one, other) => (one.workflowId < other.workflowId ? -1 : 1));
  const questions: EvaluatedQuestion[] = [];
  let leftOut = 0;
  for (const { workflowId, startTime, closeTime } of shuffled(inOrder, randomFrom(seed, 'sample'))) {
    if (questions.length === sample) break;
    const latencyMs = (closeTime ?? startTime).getTime() - startTime.getTime();
    const logged = await readSolve(session, workflowId, latencyMs);
    if (logged === null) leftOut += 1;
    else questions.push({ ...rightAnswerTo(logged), ...logged });
  }
  if (leftOut > 0)
    say(
      `${counted(leftOut, 'solve')} left out (a given plan, a conversation, a caller's functions, or missing texts).`,
    );
  if (questions.length === 0) {
    throw new UsageError(
      `the log has no solve with an answer on task queue ${taskQueue}: solve questions first, or drop --from-traces`,
    );
  }
  const judged = questions.filter(({ grader }) => grader !== 'none').length;
  return { questions, log: { answered: latest.size, unanswered, known: judged } };
}

type Logged = Required<Pick<EvaluatedQuestion, 'id' | 'question' | 'solved'>>;

function answersIn(known: readonly Question[]) {
  const byId = new Map(known.map((question) => [question.id, question]));
  const byText = new Map(known.map((question) => [normalizeQuestion(question.question), question]));
  return ({ id, question }: Logged) =>
    byId.get(id) ?? byText.get(normalizeQuestion(question)) ?? ({ grader: 'none' } as const);
}

/** Reads a logged solve; null if it says nothing about the Conductor, or can no longer be read. */
async function readSolve(
  { temporal, store }: Session,
  id: string,
  latencyMs: number,
): Promise<Logged | null> {
  try {
    const { trace, input } = await readRunNow(temporal, id);
    const { answer, status } = trace;
    const { given, messages, conversation, callerTools } = input;
    const beside = given ?? messages ?? conversation ?? callerTools;
    if (status !== 'completed' || answer === null || beside !== undefined) return null;
    const question = await readText(store, trace.question);
    const kept = await keepText(store, await readText(store, answer));
    return { id, question, solved: { ...loggedFactsOf([trace]), answer: kept, runs: [id], latencyMs } };
  } catch (error) {
    if (error instanceof ConductorError && !(error instanceof LostStoreError)) return null;
    throw error;
  }
}

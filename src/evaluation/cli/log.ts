import { UsageError } from '../../cli/exit-code';
import type { Session } from '../../cli/session';
import { say } from '../../cli/terminal';
import { completedSolves } from '../../client/list-runs';
import { readRun } from '../../client/trace-reader';
import { graderProblem } from '../../grading/grade';
import type { Question } from '../../grading/question';
import { ConductorError } from '../../conductor-error';
import { keepText, readText } from '../../store/texts';
import { counted } from '../../trace/describe';
import { randomFrom, shuffled } from '../chance';
import type { EvaluatedQuestion } from '../contract';
import { normalizeQuestion } from '../data/question-index';
import type { PlainGrader } from '../data/format';
import { readQuestionFile } from '../data/data-set';
import type { LogFacts } from '../results';
import { factsOf } from '../spent';
import type { DrawOptions } from './questions';

/** No more of the latest solves are drawn from. */
const MOST_SOLVES = 10_000;
const DEFAULT_SAMPLE = 100;

interface Drawn {
  readonly questions: readonly EvaluatedQuestion[];
  readonly log: LogFacts;
}

/**
 * Questions of the log, each with what the Conductor made of it: a sample of the solves that came to an answer, the same
 * one for the same seed and log. Left out are those whose plan a person gave, and those whose texts are gone.
 *
 * @param file questions whose right answers are known, told by their text or by the id of the solve
 * @throws UsageError where there is none
 */
export async function drawFromLog(
  session: Session,
  file: string | undefined,
  { sample = DEFAULT_SAMPLE, seed, grader }: DrawOptions,
): Promise<Drawn> {
  const answerTo = await readRightAnswers(file, grader);
  const { taskQueue } = session.config.temporal;
  const { solves, ended } = await completedSolves(session.temporal, taskQueue, MOST_SOLVES);
  const byId = new Map(solves.toReversed().map((solve) => [solve.workflowId, solve]));
  const inOrder = [...byId.values()].sort((one, other) => (one.workflowId < other.workflowId ? -1 : 1));
  const questions: EvaluatedQuestion[] = [];
  let leftOut = 0;
  for (const { workflowId: id, startTime, closeTime = startTime } of shuffled(
    inOrder,
    randomFrom(seed, 'sample'),
  )) {
    if (questions.length === sample) break;
    const logged = await readSolve(session, id, closeTime.getTime() - startTime.getTime());
    if (logged === null) leftOut += 1;
    else questions.push({ ...answerTo(logged), ...logged });
  }
  if (leftOut > 0) {
    say(
      `${counted(leftOut, 'solve')} left out: by a plan that a person gave, or of texts that the store has no more.`,
    );
  }
  if (questions.length === 0) {
    throw new UsageError(
      `the log has no solve with an answer on task queue ${taskQueue}: solve questions first, or name a file of questions ` +
        'without --from-traces',
    );
  }
  const known = questions.filter(({ grader }) => grader !== 'none').length;
  return { questions, log: { answered: byId.size, unanswered: ended - solves.length, known } };
}

type Logged = Required<Pick<EvaluatedQuestion, 'id' | 'question' | 'solved'>>;

/** null for one that says nothing about the Conductor, or cannot be read any more. */
async function readSolve(
  { temporal, store }: Session,
  id: string,
  latencyMs: number,
): Promise<Logged | null> {
  try {
    for await (const { trace, origin } of readRun(temporal, id, false)) {
      const { answer, status } = trace;
      if (status !== 'completed' || answer === null || origin?.input.given !== undefined) continue;
      const question = await readText(store, trace.question);
      const kept = await keepText(store, await readText(store, answer));
      return { id, question, solved: { ...factsOf([trace]), answer: kept, runs: [id], latencyMs } };
    }
    return null;
  } catch (error) {
    if (error instanceof ConductorError) return null;
    throw error;
  }
}

type Answered = Question | { readonly grader: 'none' };

async function readRightAnswers(
  file: string | undefined,
  grader: PlainGrader | undefined,
): Promise<(logged: Logged) => Answered> {
  if (file === undefined) return () => ({ grader: 'none' });
  const rows = (await readQuestionFile(file, grader)).map(({ value }) => value);
  const problem = await graderProblem(rows, [file]);
  if (problem !== null) throw new UsageError(problem);
  const byId = new Map(rows.map((row) => [row.id, row]));
  const byText = new Map(rows.map((row) => [normalizeQuestion(row.question), row]));
  return ({ id, question }) => byId.get(id) ?? byText.get(normalizeQuestion(question)) ?? { grader: 'none' };
}

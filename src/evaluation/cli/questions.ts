import type { Question } from '../../grading/question';
import { graderProblem } from '../../grading/grade';
import { UsageError } from '../../cli/exit-code';
import { say } from '../../cli/terminal';
import { counted } from '../../trace/describe';
import { randomFrom, shuffled } from '../chance';
import { readQuestionFile } from '../data/read-questions';

/**
 * The questions of a file, or a sample of them: the same ones for the same seed, in their order in the file.
 *
 * @throws ConfigError that names file, line and value of each mistake; UsageError for what cannot be judged here
 */
export async function readQuestions(
  file: string,
  { sample, seed }: { readonly sample?: number; readonly seed: number },
): Promise<readonly Question[]> {
  const rows = await readQuestionFile(file);
  const all = rows.map(({ value }) => value);
  refuseRepeats(file, all);
  const problem = await graderProblem(all);
  if (problem !== null) throw new UsageError(problem);
  sayUnverified(all);
  if (sample === undefined || sample >= all.length) return all;
  const drawn = new Set(shuffled(all, randomFrom(seed, 'sample')).slice(0, sample));
  return all.filter((question) => drawn.has(question));
}

function refuseRepeats(file: string, questions: readonly Question[]): void {
  const ids = new Set<string>();
  for (const { id } of questions) {
    if (ids.has(id)) throw new UsageError(`${file} has more than one question ${id}: give each its own id`);
    ids.add(id);
  }
}

function sayUnverified(questions: readonly Question[]): void {
  const asking = questions.filter((question) => question.grader === 'freeform' && question.verify === true);
  if (asking.length === 0) return;
  say(
    `${counted(asking.length, 'question')} with "verify": judged here by the rules alone, since only nights ask the verifier. ` +
      'A right answer in other words counts as wrong.',
  );
}

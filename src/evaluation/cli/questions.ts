import type { Question } from '../../grading/question';
import { graderProblem } from '../../grading/grade';
import { UsageError } from '../../cli/exit-code';
import { randomFrom, shuffled } from '../chance';
import type { EvaluatedQuestion } from '../contract';
import type { PlainGrader } from '../data/format';
import { readQuestionFile } from '../data/data-set';

/** Which questions of a file are asked, and how they are judged. */
export interface DrawOptions {
  /** How many; undefined: all. */
  readonly sample?: number;
  readonly seed: number;
  /** Default for questions that name none. */
  readonly grader?: PlainGrader;
}

/**
 * The questions of a file, or a sample of them: the same ones for the same seed, in their order in the file.
 *
 * @throws ConfigError that names file, line and value of each mistake; UsageError for what cannot be judged here
 */
export async function readQuestions(
  file: string,
  { sample, seed, grader }: DrawOptions,
): Promise<readonly Question[]> {
  const rows = await readQuestionFile(file, grader);
  const all = rows.map(({ value }) => value);
  refuseRepeats(file, all);
  const problem = await graderProblem(all, [file]);
  if (problem !== null) throw new UsageError(problem);
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

/** Whether a model may be asked to judge answers to it. */
export function needsVerifier(question: EvaluatedQuestion): boolean {
  return question.grader === 'freeform' && question.verify === true;
}

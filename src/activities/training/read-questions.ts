import { ConfigError } from '../../pool/config-error';
import { questionSchema, type Question } from '../../training/question';
import { listOf, readRows, type Row } from './read-rows';

/** The two sets of a training run, every row of them checked. */
export interface QuestionFiles {
  readonly train: readonly Question[];
  readonly heldOut: readonly Question[];
}

/**
 * Reads the questions to learn from and those to judge by, before anything is spent on either.
 *
 * Within a file no id and no question may be there twice. No question of one may be in the other: what was learned from
 * cannot tell how well it was learned.
 *
 * @throws ConfigError that names file, line and value of each mistake
 */
export async function readQuestions(files: {
  readonly train: string;
  readonly heldOut: string;
}): Promise<QuestionFiles> {
  const train = await readRows(files.train, questionSchema);
  const heldOut = await readRows(files.heldOut, questionSchema);
  const mistakes = repeatsIn([...train, ...heldOut]);
  if (mistakes.length > 0) throw new ConfigError(listOf(mistakes));
  return { train: train.map(({ value }) => value), heldOut: heldOut.map(({ value }) => value) };
}

function repeatsIn(rows: readonly Row<Question>[]): string[] {
  const ids = new Map<string, string>();
  const questions = new Map<string, string>();
  return rows.flatMap(({ value, place }) => {
    const { id, question } = value;
    const sameId = ids.get(id);
    const sameQuestion = questions.get(normalized(question));
    ids.set(id, sameId ?? place);
    questions.set(normalized(question), sameQuestion ?? place);
    if (sameId !== undefined) {
      return [`${place}: id is ${JSON.stringify(id)}, as it is in ${sameId}: give each question its own`];
    }
    if (sameQuestion !== undefined) {
      return [`${place}: question is the same as in ${sameQuestion}, but for case and blanks: remove one`];
    }
    return [];
  });
}

function normalized(question: string): string {
  return question.normalize('NFC').trim().replace(/\s+/g, ' ').toLowerCase();
}

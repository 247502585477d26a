import { hash } from 'node:crypto';
import { ConfigError } from '../../config/errors';
import type { Question } from '../../grading/question';
import { quoteBriefly } from '../../plan/plan-error';
import type { Store } from '../../store/store';
import { openOnce } from '../../runtime/turns';
import { type QuestionRef, readQuestionSetKey } from '../contract';

/** Number of cached sets, for the current night, the night before and an evaluation. */
const KEPT_SETS = 4;

/** Reads questions by reference. Each process has one; it caches the last sets, which never change. */
export class QuestionSets<Row = Question> {
  private readonly sets = new Map<string, Promise<readonly Row[]>>();

  constructor(private readonly store: Store) {}

  /** @throws ConfigError for a line that the set does not have, and as `readQuestionSet` does */
  async read({ set, index }: QuestionRef): Promise<Row> {
    const questions = await openOnce(this.sets, set, () => readQuestionSet<Row>(this.store, set));
    for (const oldest of [...this.sets.keys()].slice(0, -KEPT_SETS)) this.sets.delete(oldest);
    const question = questions[index];
    if (question !== undefined) return question;
    throw new ConfigError(
      `question ${index + 1} was requested, but the set ${set} has only ${questions.length}`,
    );
  }
}

/**
 * Reads a set and checks its key and hash: questions may name an activity, and models also write to the store.
 * @throws ConfigError for another key; Error for a missing or altered set
 */
export async function readQuestionSet<Row = Question>(store: Store, set: string): Promise<readonly Row[]> {
  const sha256 = readQuestionSetKey(set);
  if (sha256 === null) {
    throw new ConfigError(
      `the input names ${quoteBriefly(set)}, which is not a question set: expected questions/SHA-256.jsonl`,
    );
  }
  const bytes = await store.read(set);
  if (bytes === null) {
    throw new Error(
      `questions ${set} are not in the store ${store.url}: give every worker of a run the same store`,
    );
  }
  if (hash('sha256', bytes) !== sha256) {
    throw new Error(
      `questions ${set} in the store ${store.url} differ from those that were stored: they were altered, or lost in ` +
        'a power failure; start a night or an evaluation on them again',
    );
  }
  const lines = bytes.toString('utf8').split('\n').slice(0, -1);
  return lines.map((line) => JSON.parse(line) as Row);
}

import { randomFrom } from '../chance';
import type { QuestionInput, QuestionOutcome } from '../contract';
import { readMethod, REFERENCE } from '../methods/read-method';
import { KEEP_RESULT, OPEN_QUESTION } from '../names';
import type { MethodRecord } from '../records';
import { storeActivities } from './activities';
import { checkQuestion } from './input';
import { playMethod } from './play-method';
import { recordOf, solvedBy } from './record';
import { Trial } from './trial';

/**
 * Workflow `conductorEvaluateQuestion`: tries every method on one question, one after the other, and keeps what came of
 * each. The Conductor is the first: some methods carry out its plan, or may cost as much as it did.
 *
 * @throws ApplicationFailure of type `Solve.BadInput`, or what opening or keeping failed with
 */
export async function conductorEvaluateQuestion(input: QuestionInput): Promise<QuestionOutcome> {
  checkQuestion(input);
  const { id, question: ref, methods } = input;
  const question = await storeActivities('open the question')[OPEN_QUESTION]({ evaluation: id, ref });
  const found = new Map(question.known.map((record) => [record.method, record]));
  const trial = new Trial(input, question);
  const first = (name: string): number => (name === REFERENCE ? 0 : 1);
  for (const name of methods.toSorted((one, other) => first(one) - first(other))) {
    if (found.has(name)) continue;
    const record = await tryMethod(trial, name, found.get(REFERENCE) ?? null);
    if (record === null) break;
    await storeActivities(`keep ${name}`)[KEEP_RESULT](record);
    found.set(name, record);
  }
  const verdicts = methods.map((name) => found.get(name)?.verdict ?? null);
  return {
    verdicts,
    spentNanoUsd: trial.spentNanoUsd,
    stoppedBy: verdicts.includes(null) ? 'cost' : null,
  };
}

/** Null if the budget ran out: the record then says nothing about the method. */
async function tryMethod(
  trial: Trial,
  name: string,
  reference: MethodRecord | null,
): Promise<MethodRecord | null> {
  const { input, question } = trial;
  const { solved } = question;
  if (name === REFERENCE && solved) {
    return recordOf(trial, { name, solved, result: { runs: [], answer: solved.answer }, reference: null });
  }
  const { method } = readMethod(name, input.workers);
  const random = randomFrom(input.seed, question.id, name);
  const team = { workers: input.workers, random };
  const result = await playMethod(trial, { name, method, team, reference });
  return result && recordOf(trial, { name, solved: solvedBy(method, result, reference), result, reference });
}

import { signed } from '../../trace/lines';
import { adjustByHolm, type Comparison, compareTries } from '../compare-pairs';
import type { Evaluation } from '../activities/kept';
import { normalizeQuestion } from '../data/question-index';
import { meanOf } from '../../statistics/statistics';
import { meanScores } from './breakdown';

export type Compared = Evaluation<'id' | 'methods'>;

export interface MethodChange extends Comparison {
  readonly method: string;
  readonly scores: readonly [before: number, after: number];
  readonly adjustedP: number;
}

/** Compares two evaluations question by question: how much each shared method changed in the second. */
export function compareEvaluations(before: Compared, after: Compared): MethodChange[] {
  const shared = before.manifest.methods.filter((method) => after.manifest.methods.includes(method));
  const changes = shared.flatMap((method) => {
    const [one, two] = [scoresOf(before, method), scoresOf(after, method)];
    const pairs = [...one].flatMap(([question, score]): (readonly [number, number])[] => {
      const other = two.get(question);
      return other === undefined ? [] : [[score, other]];
    });
    const comparison = compareTries(
      before.manifest.id,
      pairs.map(([old, now]) => [now - old]),
    );
    const scores = [
      meanOf(pairs.map(([old]) => old)) ?? 0,
      meanOf(pairs.map(([, now]) => now)) ?? 0,
    ] as const;
    return comparison === null ? [] : [{ ...comparison, method, scores }];
  });
  const adjusted = adjustByHolm(changes.map(({ p }) => p));
  return changes.map((change, place) => ({ ...change, adjustedP: adjusted[place] ?? 1 }));
}

/** Returns the mean score of each judged question, by id and text, since a changed text is another question. */
function scoresOf({ records, questions }: Compared, method: string): Map<string, number> {
  const own = records.filter((record) => record.method === method);
  return meanScores(own, ({ index, question }) =>
    JSON.stringify([question, normalizeQuestion(questions[index]?.question ?? '')]),
  );
}

/** Returns the rows of a table, the head first. */
export function tableOfChanges(before: string, after: string, changes: readonly MethodChange[]): string[][] {
  const places = (value: number): string => value.toFixed(3);
  const rows = changes.map(({ method, pairs, scores, gain, interval, p, adjustedP }) => [
    method,
    String(pairs),
    ...scores.map(places),
    signed(gain),
    `${signed(interval[0])} to ${signed(interval[1])}`,
    places(p),
    places(adjustedP),
  ]);
  return [['method', 'questions', before, after, 'difference', '95 % interval', 'p', 'Holm'], ...rows];
}

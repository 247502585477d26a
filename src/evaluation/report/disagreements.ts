import type { Store } from '../../store/store';
import { readText } from '../../store/texts';
import type { MethodRecord } from '../results';
import { groupBy } from '../statistics';
import type { Evaluation } from './breakdown';
import type { Report } from './report';

/** Enough to read, and to see what kind of question decides. */
const MOST_SHOWN = 10;

/**
 * Questions on which one of two methods alone is right, shown whole: half of them won and half of them lost, as far as there
 * are any.
 */
export async function showDisagreements(
  store: Store,
  one: string,
  other: string,
  { records, questions }: Evaluation,
): Promise<Report['parts']> {
  const isRight = ({ verdict }: MethodRecord): boolean => verdict === 'correct';
  const pairs = [...groupBy(records, ({ index }) => index).values()].flatMap((found) => {
    const [mine, theirs] = [one, other].map((name) => found.find(({ method }) => method === name));
    if (mine === undefined || theirs === undefined) return [];
    const isJudged = mine.verdict !== 'ungraded' && theirs.verdict !== 'ungraded';
    return isJudged && isRight(mine) !== isRight(theirs) ? [[mine, theirs] as const] : [];
  });
  const won = pairs.filter(([mine]) => isRight(mine));
  const lost = pairs.filter(([mine]) => !isRight(mine));
  const half = MOST_SHOWN / 2;
  const shown = [
    ...won.slice(0, Math.max(half, MOST_SHOWN - lost.length)),
    ...lost.slice(0, Math.max(half, MOST_SHOWN - won.length)),
  ];
  if (shown.length === 0) return [];
  const parts = await Promise.all(
    shown.map(async ([mine, theirs]) => {
      const question = questions[mine.index];
      return [
        `Question ${mine.question}: right is ${isRight(mine) ? one : other} alone.`,
        { quote: question?.question ?? '' },
        ...(question !== undefined && 'answer' in question ? [`Right answer: ${question.answer}`] : []),
        ...(await showAnswer(store, mine)),
        ...(await showAnswer(store, theirs)),
      ];
    }),
  );
  const intro =
    `Disagreements of ${one} and ${other}: ${won.length} questions that ${one} alone answered rightly, and ${lost.length} ` +
    `that ${other} alone did. ${shown.length} of them:`;
  return [intro, ...parts.flat()];
}

async function showAnswer(store: Store, { method, verdict, reason, plan, answer, runs }: MethodRecord) {
  const steps = (plan?.steps ?? []).map(
    ({ worker, subtask, sees }, place) => `${place}. ${worker}, sees [${sees.join(', ')}]: ${subtask}`,
  );
  // A text that was collected is gone; the verdict on it stays.
  const text = answer === null ? 'no answer' : await readText(store, answer).catch(() => 'its text is gone');
  const shown = steps.length > 1 ? [{ quote: steps.join('\n') }] : [];
  return [`${method}: ${verdict}, ${reason} (${runs.join(', ')})`, ...shown, { quote: text }];
}

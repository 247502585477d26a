import type { Store } from '../../store/store';
import { readText } from '../../store/texts';
import type { Evaluation } from '../activities/kept';
import type { MethodRecord } from '../results';
import { groupBy } from '../../statistics/tally';
import type { Report } from '../../report/report';

/** Enough to see which kind of question decides, and few enough to read. */
const MOST_SHOWN = 10;

export interface Side extends Pick<MethodRecord, 'method' | 'verdict' | 'reason' | 'plan' | 'runs'> {
  /** Null if there is none. */
  readonly answer: string | null;
}

export interface Disagreement {
  readonly id: string;
  readonly question: string;
  readonly right: string | null;
  readonly sides: readonly [Side, Side];
}

/** Questions on which only one of two methods is right; `shown` are half won and half lost, if there are enough. */
export interface Disagreements {
  readonly methods: readonly [one: string, other: string];
  readonly won: number;
  readonly lost: number;
  readonly shown: readonly Disagreement[];
}

export async function findDisagreements(
  store: Store,
  one: string,
  other: string,
  { records, questions }: Pick<Evaluation, 'records' | 'questions'>,
): Promise<Disagreements> {
  const pairs = [...groupBy(records, ({ index }) => index).values()].flatMap((found) => {
    const [mine, theirs] = [one, other].map((name) => found.find(({ method }) => method === name));
    if (mine === undefined || theirs === undefined) return [];
    const isJudged = mine.verdict !== 'ungraded' && theirs.verdict !== 'ungraded';
    return isJudged && isRight(mine) !== isRight(theirs) ? [[mine, theirs] as const] : [];
  });
  const won = pairs.filter(([mine]) => isRight(mine));
  const lost = pairs.filter(([mine]) => !isRight(mine));
  const half = MOST_SHOWN / 2;
  const chosen = [
    ...won.slice(0, Math.max(half, MOST_SHOWN - lost.length)),
    ...lost.slice(0, Math.max(half, MOST_SHOWN - won.length)),
  ];
  const shown = chosen.map(async ([mine, theirs]): Promise<Disagreement> => {
    const question = questions[mine.index];
    return {
      id: mine.question,
      question: question?.question ?? '',
      right: question !== undefined && 'answer' in question ? question.answer : null,
      sides: [await sideOf(store, mine), await sideOf(store, theirs)],
    };
  });
  return { methods: [one, other], won: won.length, lost: lost.length, shown: await Promise.all(shown) };
}

function isRight({ verdict }: Pick<MethodRecord, 'verdict'>): boolean {
  return verdict === 'correct';
}

async function sideOf(store: Store, { method, verdict, reason, plan, answer, runs }: MethodRecord) {
  // The text may have been garbage-collected; the verdict on it remains.
  const text = answer === null ? null : await readText(store, answer).catch(() => 'its text is gone');
  return { method, verdict, reason, plan, answer: text, runs };
}

/** Returns the disagreements as parts of a report, each question in full. */
export function showDisagreements({ methods, won, lost, shown }: Disagreements): Report['parts'] {
  if (shown.length === 0) return [];
  const [one, other] = methods;
  const intro =
    `Disagreements of ${one} and ${other}: ${won} questions that ${one} alone answered rightly, and ${lost} ` +
    `that ${other} alone did. ${shown.length} of them:`;
  const parts = shown.flatMap(({ id, question, right, sides }) => [
    `Question ${id}: right is ${sides.find(isRight)?.method} alone.`,
    { quote: question },
    ...(right === null ? [] : [`Right answer: ${right}`]),
    ...sides.flatMap(showSide),
  ]);
  return [intro, ...parts];
}

function showSide({ method, verdict, reason, plan, answer, runs }: Side): Report['parts'] {
  const steps = (plan?.steps ?? []).map(
    ({ worker, subtask, sees }, place) => `${place}. ${worker}, sees [${sees.join(', ')}]: ${subtask}`,
  );
  const shown = steps.length > 1 ? [{ quote: steps.join('\n') }] : [];
  return [
    `${method}: ${verdict}, ${reason} (${runs.join(', ')})`,
    ...shown,
    { quote: answer ?? 'no answer' },
  ];
}

import type { Grade } from '../../grading/verdict';
import type { ModelCard } from '../../protocol/cards';
import type { Text } from '../../protocol/text';
import type { Comparing, RuleGrade } from '../contract';
import { lastLineOf } from '../judging';
import { COMPARE_ANSWERS } from '../names';
import type { MethodRecord, Preference, Spent } from '../records';
import { addSpent, NOTHING_SPENT, spentOn } from '../spent';
import { storeActivities } from './activities';
import type { SolveRun, Trial } from './trial';

/**
 * The verdict on an answer: the rule's, or where that says no and the question asks for it, the verifier's. null where
 * the money did not last.
 */
export async function verify(
  trial: Trial,
  name: string,
  { verification, ...byRule }: RuleGrade,
): Promise<{ grade: Grade; judging: Spent } | null> {
  const { verifier } = trial.input;
  if (verification === undefined || verifier === undefined) return { grade: byRule, judging: NOTHING_SPENT };
  const { prompt, correct, wrong } = verification;
  const asked = await trial.ask(verifier, prompt, name, 'verifier');
  if (asked === null) return null;
  const verdict = wordOf(asked, { [correct]: 'correct', [wrong]: 'wrong' } as const);
  return {
    grade: {
      verdict: verdict ?? 'ungraded',
      extracted: byRule.extracted,
      reason: verdict === null ? problemOf(asked) : `${byRule.reason}; ${verifier.model} says ${verdict}`,
      graderVersion: `${byRule.graderVersion} verifier/${verifier.model}`,
    },
    judging: spentBy(asked),
  };
}

interface Compared {
  readonly preference: Preference | null;
  readonly judging: Spent;
}

const NOT_COMPARED: Compared = { preference: null, judging: NOTHING_SPENT };

/** Which of two answers a judge prefers, where no right one is known. null where the money did not last. */
export function compare(
  trial: Trial,
  name: string,
  answer: Text | null,
  reference: MethodRecord | null,
): Promise<Compared | null> {
  const { input, question } = trial;
  const { verifier, compares = false } = input;
  const isAsked = compares && question.isOpen === true && reference !== null;
  if (!isAsked || verifier === undefined) return Promise.resolve(NOT_COMPARED);
  return askInBothOrders(trial, { verifier, name, answer, reference });
}

interface Rivals {
  readonly verifier: ModelCard;
  readonly name: string;
  readonly answer: Text | null;
  readonly reference: MethodRecord;
}

/** Each answer stands once in first place, and one is preferred only where it is both times. */
async function askInBothOrders(
  trial: Trial,
  { verifier, name, answer, reference }: Rivals,
): Promise<Compared | null> {
  const over = reference.method;
  const unjudged = (reason: string, judging = NOTHING_SPENT): Compared => {
    return { preference: { over, outcome: 'unjudged', reason }, judging };
  };
  const [inOrder, reversed] = await putSideBySide(trial, answer, reference.answer);
  if (!inOrder || !reversed) return unjudged('an answer is missing, empty or too long to be compared');
  const one = await trial.ask(verifier, inOrder.prompt, name, 'judge');
  const other = one && (await trial.ask(verifier, reversed.prompt, name, 'judge-reversed'));
  if (one === null || other === null) return null;
  const judging = addSpent(spentBy(one), spentBy(other));
  const own = preferredIn(one, inOrder, ['won', 'lost']);
  const again = preferredIn(other, reversed, ['lost', 'won']);
  if (own === null) return unjudged(problemOf(one), judging);
  if (again === null) return unjudged(problemOf(other), judging);
  return { preference: { over, ...agree(verifier, own, again) }, judging };
}

function putSideBySide(
  { input: { question } }: Trial,
  one: Text | null,
  other: Text | null,
): Promise<readonly (Comparing | null)[]> {
  if (one === null || other === null) return Promise.resolve([]);
  return storeActivities('put answers side by side')[COMPARE_ANSWERS]({ question, answers: [one, other] });
}

type Outcome = 'won' | 'lost' | 'tied';

function preferredIn(asked: SolveRun, words: Comparing, [first, second]: readonly Outcome[]): Outcome | null {
  const meanings = { [words.first]: first, [words.second]: second, [words.equal]: 'tied' as const };
  return wordOf(asked, meanings) ?? null;
}

function agree({ model }: ModelCard, one: Outcome, other: Outcome): Pick<Preference, 'outcome' | 'reason'> {
  if (one === other) return { outcome: one, reason: `${model} says so in both orders` };
  return { outcome: 'tied', reason: `${model} says ${one} in one order and ${other} in the other` };
}

/** What the last line of the judge's reply means; null where it is none of the words. */
function wordOf<Meaning>({ trace }: SolveRun, meanings: Readonly<Record<string, Meaning>>): Meaning | null {
  const answer = trace?.answer ?? null;
  const said = typeof answer === 'string' ? lastLineOf(answer) : '';
  return Object.hasOwn(meanings, said) ? (meanings[said] ?? null) : null;
}

function problemOf({ problem }: SolveRun): string {
  if (problem !== null) return `the verifier failed: ${problem.message}`;
  return 'the verifier said none of the words that it was to choose from';
}

function spentBy({ trace }: SolveRun): Spent {
  return spentOn(trace?.calls ?? []);
}

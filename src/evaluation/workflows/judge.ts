import type { Grade } from '../../grading/verdict';
import type { ModelCard } from '../../protocol/cards';
import type { Text } from '../../protocol/text';
import type { Comparing, RuleGrade } from '../contract';
import { COMPARE_ANSWERS } from '../names';
import type { MethodRecord, Preference, Spent } from '../records';
import { NOTHING_SPENT, spentOn } from '../spent';
import { storeActivities } from './activities';
import { verifiedGrade, type VerifierReply } from './ask-verifier';
import type { QuestionContext } from './question-context';

/**
 * The verdict on an answer: the rule's, or where that says no and the question asks for it, the verifier's. null where
 * the money did not last.
 */
export async function verify(
  context: QuestionContext,
  name: string,
  { verification, ...byRule }: RuleGrade,
): Promise<{ grade: Grade; judging: Spent } | null> {
  const { verifier } = context.input;
  if (verification === undefined || verifier === undefined) return { grade: byRule, judging: NOTHING_SPENT };
  const asked = await context.ask(verifier, verification.prompt, `verifier of ${name}`);
  const grade = asked && verifiedGrade({ ...byRule, verification }, verifier, asked);
  return grade && { grade, judging: spentOn(asked.calls) };
}

interface Compared {
  readonly preference: Preference | null;
  readonly judging: Spent;
}

const NOT_COMPARED: Compared = { preference: null, judging: NOTHING_SPENT };

/** Which of two answers a judge prefers, where no right one is known. null where the money did not last. */
export function compare(
  context: QuestionContext,
  name: string,
  answer: Text | null,
  reference: MethodRecord | null,
): Promise<Compared | null> {
  const { input, question } = context;
  const { verifier, compares = false } = input;
  const isAsked = compares && question.isOpen === true && reference !== null;
  if (!isAsked || verifier === undefined) return Promise.resolve(NOT_COMPARED);
  return askInBothOrders(context, verifier, { name, answer, reference });
}

/** Each answer stands once in first place, and one is preferred only where it is both times. */
async function askInBothOrders(
  context: QuestionContext,
  verifier: ModelCard,
  { name, answer, reference }: { name: string; answer: Text | null; reference: MethodRecord },
): Promise<Compared | null> {
  const over = reference.method;
  const unjudged = (reason: string, judging = NOTHING_SPENT): Compared => {
    return { preference: { over, outcome: 'unjudged', reason }, judging };
  };
  const [inOrder, reversed] = await putSideBySide(context, answer, reference.answer);
  if (!inOrder || !reversed) return unjudged('an answer is missing, empty or too long to be compared');
  const one = await context.ask(verifier, inOrder.prompt, `judge of ${name}`);
  const other = one && (await context.ask(verifier, reversed.prompt, `judge of ${name}, reversed`));
  if (one === null || other === null) return null;
  const judging = spentOn([...one.calls, ...other.calls]);
  const own = preferredIn(one, inOrder, ['won', 'lost']);
  const again = preferredIn(other, reversed, ['lost', 'won']);
  if (own === null) return unjudged(one.problem, judging);
  if (again === null) return unjudged(other.problem, judging);
  return { preference: { over, ...agree(verifier, own, again) }, judging };
}

function putSideBySide(
  { input: { question } }: QuestionContext,
  one: Text | null,
  other: Text | null,
): Promise<readonly (Comparing | null)[]> {
  if (one === null || other === null) return Promise.resolve([]);
  return storeActivities('put answers side by side')[COMPARE_ANSWERS]({ question, answers: [one, other] });
}

type Outcome = 'won' | 'lost' | 'tied';

function preferredIn(
  { said }: VerifierReply,
  words: Comparing,
  [first, second]: readonly [Outcome, Outcome],
): Outcome | null {
  if (said === words.first) return first;
  if (said === words.second) return second;
  return said === words.equal ? 'tied' : null;
}

function agree({ model }: ModelCard, one: Outcome, other: Outcome): Pick<Preference, 'outcome' | 'reason'> {
  if (one === other) return { outcome: one, reason: `${model} says so in both orders` };
  return { outcome: 'tied', reason: `${model} says ${one} in one order and ${other} in the other` };
}

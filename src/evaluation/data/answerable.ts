import { grade } from '../../grading/grade';
import { type Question, wholeQuestion } from '../../grading/question';
import { normalizeText } from '../../grading/readers';

export function letterOf(index: number): string {
  return String.fromCharCode(65 + index);
}

/** Adds the options below a question, each with its letter. */
export function showOptions(question: string, options: readonly string[]): string {
  const lines = options.map((option, index) => `${letterOf(index)}. ${option}`);
  return [question.trim(), '', ...lines].join('\n');
}

/** Returns the question as it is sent: with its options, which some files keep in a column of their own. */
export function withOptions(question: Question): Question {
  if (question.grader !== 'choice' || question.options === undefined) return question;
  const shown = normalizeText(wholeQuestion(question));
  const areShown = question.options.every((option) => shown.includes(normalizeText(option)));
  return areShown ? question : { ...question, question: showOptions(question.question, question.options) };
}

/** Returns why no reply could be right, or null: each right answer must pass its own grader as a reply. */
export async function whyUnanswerable(question: Question): Promise<string | null> {
  if (question.grader === 'code' || question.grader === 'custom') return null;
  const { answer } = question;
  if (isHidden(question)) {
    return `question shows no option ${answer}: add the options to it, or as a list "options"`;
  }
  if (answer.includes('\n#### ')) {
    return 'answer is a worked solution that ends with ####: write what follows alone, with "grader": "number"';
  }
  const { verdict, reason } = await grade(question, asReply(question));
  if (verdict !== 'wrong' && verdict !== 'unparseable') return null;
  return `answer, sent as a reply, would not be right (${reason}): write the result alone, or choose another "grader"`;
}

/** Returns whether a choice has no options of its own, and its question does not name the right one. */
function isHidden(question: Question): boolean {
  if (question.grader !== 'choice' || question.options !== undefined) return false;
  const words = wholeQuestion(question).split(/[^\p{L}\p{N}]/u);
  return !words.includes(question.answer.replace(/[^a-z]/gi, '').toUpperCase());
}

function asReply(question: Exclude<Question, { readonly grader: 'code' | 'custom' }>): string {
  const { answer, tagged } = question;
  const reply = question.grader === 'number' && question.boxed === true ? `\\boxed{${answer}}` : answer;
  return tagged === true ? `<answer>${reply}</answer>` : reply;
}

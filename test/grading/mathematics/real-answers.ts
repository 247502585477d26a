import { readQuestionFile } from '../../../src/evaluation/data';
import { groupBy } from '../../../src/statistics/tally';
import { grade, type Verdict } from '../../../src/grading';
import { gradeMathematics } from '../../../src/grading/mathematics/grade-mathematics';
import { askMathVerify, mathVerifyProblem } from '../../../src/grading/mathematics/math-verify';
import type { Question } from '../../../src/grading/question';
import { readNumber, toDouble } from '../../../src/grading/readers';

type Judged = Exclude<Question, { readonly grader: 'code' | 'custom' }>;

/**
 * Measures the graders on the right answers of a file, without any model: each must be right for its own question, and
 * hardly any may be right for the next one. Returns a line for each measurement.
 */
export async function measureAnswers(file: string): Promise<string[]> {
  const all = (await readQuestionFile(file)).map(({ value }) => value);
  const judged = all.filter((question): question is Judged => !['code', 'custom'].includes(question.grader));
  const groups = [...groupBy(judged, ({ source, grader }) => `${source ?? file}, ${grader}`)];
  const lines: string[] = [];
  for (const [name, questions] of groups) lines.push(...(await measureGroup(name, questions)));
  return lines;
}

async function measureGroup(name: string, questions: readonly Judged[]): Promise<string[]> {
  const own = await count(questions, (question) => verdictOn(question, question.answer));
  const pairs = questions.map((question, place) => ({
    question,
    next: questions[(place + 1) % questions.length]?.answer ?? '',
  }));
  const others = pairs.filter(({ question, next }) => next !== question.answer);
  const taken = await count(others, ({ question, next }) => verdictOn(question, next));
  return [
    `${name}: ${describe(own, questions)} right for their own question, ${describe(taken, others)} for the next one`,
    ...(questions[0]?.grader === 'math' ? await measureTiers(questions) : []),
    ...(await measureTolerance(questions)),
  ];
}

async function verdictOn(question: Judged, answer: string): Promise<Verdict> {
  return (await grade(question, `\\boxed{${answer}}`)).verdict;
}

async function measureTiers(questions: readonly Judged[]): Promise<string[]> {
  const first = await count(questions, async ({ answer }) => {
    const { verdict, graderVersion } = await gradeMathematics(answer, `\\boxed{${answer}}`);
    return graderVersion.includes('math-verify') ? 'wrong' : verdict;
  });
  const problem = await mathVerifyProblem();
  if (problem !== null)
    return [`  tier 1: ${describe(first, questions)}; tier 2 is not measured: ${problem}`];
  const second = await count(questions, async ({ answer }) => {
    const opinion = await askMathVerify(answer, answer).catch(() => null);
    return opinion?.comparison === 'same' ? 'correct' : 'wrong';
  });
  return [`  tier 1: ${describe(first, questions)}; tier 2: ${describe(second, questions)}`];
}

/** Counts the numeric answers that are still right when rounded, with and without the tolerance of their question. */
async function measureTolerance(questions: readonly Judged[]): Promise<string[]> {
  const lines: string[] = [];
  for (const digits of [3, 4]) {
    const rounded = questions.flatMap((question) => {
      const found =
        question.grader === 'freeform' || question.grader === 'number' ? readNumber(question.answer) : null;
      const text = found === null ? '' : toDouble(found.number).toPrecision(digits);
      const isOther = found !== null && Number(text) !== toDouble(found.number);
      return isOther ? [{ question, text: text + found.behind }] : [];
    });
    if (rounded.length === 0) continue;
    const tolerant = await count(rounded, ({ question, text }) => verdictOn(question, text));
    const exact = await count(rounded, ({ question, text }) =>
      verdictOn({ ...question, tolerance: 0 } as Judged, text),
    );
    lines.push(
      `  rounded to ${digits} digits: ${describe(tolerant, rounded)} right with the tolerance of their question, ` +
        `${describe(exact, rounded)} without`,
    );
  }
  return lines;
}

async function count<Item>(items: readonly Item[], judge: (item: Item) => Promise<Verdict>): Promise<number> {
  let right = 0;
  for (const item of items) right += Number((await judge(item)) === 'correct');
  return right;
}

function describe(right: number, all: readonly unknown[]): string {
  return `${right} of ${all.length}`;
}

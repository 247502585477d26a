import { grade, type RightAnswer, type Verdict } from '../../src/grading';

// A right answer and a wrong one in about a hundred wordings each: conclusions after five beginnings.

const BEGINNINGS = [
  '',
  'We try 3 cases first.\n',
  'Option A looks right at first, but it is not.\n\n',
  'Let x = 12; then 5 x = 60.\n',
  'I thought that the answer is none of these.\n',
];

type Wording = (answer: string) => string;

/** Conclusions that every grader of texts reads: a box, or a statement that ends with its line. */
const CONCLUSIONS: readonly Wording[] = [
  (answer) => `\\boxed{${answer}}`,
  (answer) => `$\\boxed{${answer}}$`,
  (answer) => `$$\\boxed{${answer}}$$`,
  (answer) => `Therefore, the final answer is: $\\boxed{${answer}}$. I hope it is correct.`,
  (answer) => `\\boxed {${answer}}\n\nThis was checked in 2 ways.`,
  (answer) => `The answer is ${answer}`,
  (answer) => `The answer is ${answer}.`,
  (answer) => `The answer is: ${answer}`,
  (answer) => `The final answer is **${answer}**`,
  (answer) => `So the correct answer is ${answer}.`,
  (answer) => `**Answer:** ${answer}`,
  (answer) => `**Answer: ${answer}**`,
  (answer) => `Answer: ${answer}`,
  (answer) => `answer: ${answer}.`,
  (answer) => `Final answer: ${answer}`,
  (answer) => `Final Answer: ${answer}`,
  (answer) => `The answer is ${answer}.\n\nThis can be checked by hand in 4 steps.`,
  (answer) => `The answer is wrong? No: the answer is ${answer}`,
  (answer) => `<answer>${answer}</answer>`,
  (answer) => `**Answer: ${answer}** (Checked with 3 independent methods.)`,
  (answer) => `<idea>3 steps</idea>\n<answer>The answer is ${answer}.</answer>\nDone in 5 steps.`,
];

const replies = (answer: string): string[] =>
  BEGINNINGS.flatMap((beginning) => CONCLUSIONS.map((conclude) => beginning + conclude(answer)));

const OPTIONS = ['Rome', 'Paris', 'Oslo', 'Bern'];

const CASES: readonly (readonly [what: string, question: RightAnswer, right: string, wrong: string])[] = [
  ['a number', { grader: 'number', answer: '204' }, '204', '205'],
  ['a decimal number', { grader: 'number', answer: '3.14', tolerance: 1e-3 }, '3.142', '3.15'],
  ['a letter', { grader: 'choice', answer: 'B', options: OPTIONS }, 'B', 'C'],
  ['a letter in brackets', { grader: 'choice', answer: 'B' }, '(B)', '(D)'],
  ['the text of an option', { grader: 'choice', answer: 'B', options: OPTIONS }, 'Paris', 'Oslo'],
  ['a quantity', { grader: 'freeform', answer: '5 km' }, '5000 m', '5 m'],
  ['a rounded quantity', { grader: 'freeform', answer: '3.14 m', tolerance: 1e-3 }, '3.142 m', '3.15 m'],
  ['a name', { grader: 'freeform', answer: 'the Danube' }, 'Danube', 'Rhine'],
  ['a list', { grader: 'freeform', answer: 'red, green' }, 'green and red', 'green and blue'],
  ['a fraction', { grader: 'math', answer: '\\frac{3}{4}' }, '0.75', '\\frac{4}{3}'],
];

async function verdictsOf(question: RightAnswer, answer: string): Promise<string[]> {
  const verdicts: (readonly [Verdict, string])[] = [];
  for (const reply of replies(answer)) verdicts.push([(await grade(question, reply)).verdict, reply]);
  return verdicts.map(([verdict, reply]) => `${verdict}: ${reply}`);
}

test.each(CASES)(
  '%s is judged the same in a hundred wordings',
  async (_, question, right, wrong) => {
    const expected = (verdict: Verdict, answer: string): string[] =>
      replies(answer).map((reply) => `${verdict}: ${reply}`);
    expect(await verdictsOf(question, right)).toEqual(expected('correct', right));
    expect(await verdictsOf(question, wrong)).toEqual(expected('wrong', wrong));
  },
  120_000,
);

test('AIME accepts only a whole number in a box', async () => {
  const question = { grader: 'number', answer: '33', boxed: true } as const;
  const verdictOf = async (reply: string): Promise<Verdict> => (await grade(question, reply)).verdict;
  for (const beginning of BEGINNINGS) {
    for (const right of ['33', '033', ' 33 ', 'n = 33', '30 + 3 = 33'])
      expect(await verdictOf(`${beginning}Thus $\\boxed{${right}}$, in 2 steps.`)).toBe('correct');
    for (const wrong of ['34', '330', '-33', '3{,}300'])
      expect(await verdictOf(`${beginning}Thus \\boxed{${wrong}}, not 33.`)).toBe('wrong');
    for (const none of [
      'The answer is 33',
      '33',
      '\\boxed{}',
      '\\boxed{66/2}',
      '\\boxed{33.5}',
      '\\boxed{x}',
    ])
      expect(await verdictOf(beginning + none)).toBe('unparseable');
  }
  expect(await grade(question, '\\boxed{034}')).toMatchObject({ extracted: '34' });
});

test("RLPR's tolerance is relative to the right quantity, in any unit, and does not apply to zero", async () => {
  const verdictOf = async (answer: string, tolerance: number, reply: string): Promise<Verdict> =>
    (await grade({ grader: 'freeform', answer, tolerance }, reply)).verdict;
  expect(await verdictOf('3.14', 1e-3, '3.142')).toBe('correct');
  expect(await verdictOf('3.14', 0, '3.142')).toBe('wrong');
  expect(await verdictOf('1.609 km', 1e-3, '1609.344 m')).toBe('correct');
  expect(await verdictOf('1.609 km', 1e-6, '1609.344 m')).toBe('wrong');
  expect(await verdictOf('0.5', 1e-6, '0.5004')).toBe('wrong');
  expect(await verdictOf('0', 1e-3, '0.0001')).toBe('wrong');
  expect(await verdictOf('-2', 1e-3, '2')).toBe('wrong');
});

/** Wordings of a choice that public graders read, each with the letter D. */
const CHOICES = [
  'Answer: d',
  'answer is d.',
  'The answer is (d).',
  'ANSWER IS D.',
  'ANSWER: D',
  'Final Answer: [D]',
  'The correct option is D.',
  'The best choice is (D), by far.',
  'Correct option: D',
  'My choice is D',
  'So I choose D.',
  "I'd go with option D.",
  'I would select (D)',
  'Answer: $\\text{D}$',
  'Answer: $\\mathbf{D}$',
  '\\boxed{\\textbf{(D)}\\ 12}',
  '\\boxed{D. \\text{Bern}}',
  '\\boxed{d}',
  'Work: `\\boxed{\\mathrm{d}}`',
  '{"answer": "D"}',
  '```json\n{ "reason": "A and B fail", "answer": "d" }\n```',
  '{"answer": "Bern"}',
  'The answer is "D".',
  'Answer：D',
  'Antwort: D',
  'Die richtige Antwort ist D.',
  'Réponse : (D)',
  'La respuesta es D.',
  'Resposta: D',
  'Risposta: d',
  'Jawaban: D',
  'Ответ: D',
  '正确答案：D',
  '答案是D。',
  '答え：D',
  '정답: D',
  'उत्तर: D',
  'الإجابة: D',
  'উত্তরঃ D',
  'The energy is $\\boxed{E = mc^2}$, so the fourth holds.\n\n**Answer: D**',
  'Newton: \\boxed{F = ma}.\nThe answer is D',
  'Of C(4, 2) = 6 pairs: the answer is D',
  '\\boxed{A^{-1}B} is defined.\nAnswer: D',
];

/** Near misses: texts that state no option, or none of four. */
const NO_CHOICES = [
  'The answer is a prime number',
  'answer: i do not know',
  'Answer: A prime number',
  'The answer is e.g. the second',
  'The answer is i.e. none',
  'The answer is not D',
  'I choose a number between 1 and 9',
  'I choose between A and B later',
  'The incorrect option is D',
  'An option is D',
  'The answer is C(4, 2)',
  'Answer: B = 3 tesla',
  'Answer: D-glucose',
  "The answer is C'",
  '\\boxed{C_2}',
  '\\boxed{B = 3}',
  '\\boxed{D \\cdot 4}',
  'The answer is a/b',
  'answer: c or d',
  'Beantwortet: D',
  'There is no answer to be found',
];

test('a choice is read in the wordings that public graders read, and in no near miss', async () => {
  const question = { grader: 'choice', answer: 'D', options: OPTIONS } as const;
  const verdicts = async (replies: readonly string[]): Promise<string[]> =>
    Promise.all(replies.map(async (reply) => `${(await grade(question, reply)).verdict}: ${reply}`));
  expect(await verdicts(CHOICES)).toEqual(CHOICES.map((reply) => `correct: ${reply}`));
  expect(await verdicts(NO_CHOICES)).toEqual(NO_CHOICES.map((reply) => `unparseable: ${reply}`));
});

test('of ten options, a letter of a formula in a box is none', async () => {
  const options = ['a1', 'b2', 'c3', 'd4', 'e5', 'f6', 'g7', 'h8', 'i9', 'j10'];
  for (const formula of ['E = mc^2', 'F = ma', 'H_2O', 'J\\omega', 'G(x)', 'I^2R'])
    expect(
      await grade({ grader: 'choice', answer: 'D', options }, `It is \\boxed{${formula}}.\nAnswer: D`),
    ).toMatchObject({ verdict: 'correct' });
});

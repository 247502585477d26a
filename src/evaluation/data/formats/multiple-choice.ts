import { createHash } from 'node:crypto';
import { z } from 'zod';
import { defineFormat, letterOf, nameOf, orJson, text, withOptions } from '../format';

const option = z.union([z.string(), z.number().transform(String)]);

export const mmlu = defineFormat({
  name: 'MMLU',
  mapping: {
    id: 'a digest of question and choices',
    question: 'question, with choices below it',
    answer: 'answer, counted from 0, as a letter',
    options: 'choices',
    topic: 'subject',
  },
  schema: z.object({
    question: text,
    subject: z.string(),
    choices: orJson(z.array(option, { error: 'expected a list of options' }).min(2).max(10)),
    answer: z.union([z.int().nonnegative(), z.string().regex(/^\d$/).transform(Number)], {
      error: 'expected the number of an option, from 0',
    }),
  }),
  draft: ({ question, subject, choices, answer }) => {
    if (answer >= choices.length) {
      throw new Error(`answer is ${answer}: expected the number of one of ${choices.length} options, from 0`);
    }
    return {
      id: nameOf('mmlu', question, ...choices),
      source: 'MMLU',
      question: withOptions(question, choices),
      grader: 'choice',
      answer: letterOf(answer),
      ...optionsOf(choices),
      ...(subject !== '' && { topic: subject }),
    };
  },
});

/** Its right answer comes first in each row: options are set in an order that the row's id decides. */
export const gpqa = defineFormat({
  name: 'GPQA',
  mapping: {
    id: 'Record ID',
    question: 'Question, with the four answers below it',
    answer: 'Correct Answer, as the letter that it gets',
    options: 'Correct Answer and Incorrect Answer 1 to 3, in an order that Record ID decides',
    topic: 'High-level domain',
  },
  schema: z.object({
    Question: text,
    'Correct Answer': text,
    'Incorrect Answer 1': text,
    'Incorrect Answer 2': text,
    'Incorrect Answer 3': text,
    'Record ID': text,
    'High-level domain': z.string().optional(),
  }),
  draft: (row) => {
    const id = row['Record ID'];
    const right = row['Correct Answer'].trim();
    const wrong = ([1, 2, 3] as const).map((number) => row[`Incorrect Answer ${number}`].trim());
    const options = [right, ...wrong]
      .map((option, index) => ({ option, isRight: index === 0, rank: digest(`${id}\n${index}`) }))
      .sort((one, other) => (one.rank < other.rank ? -1 : 1));
    const texts = options.map(({ option }) => option);
    return {
      id,
      source: 'GPQA',
      question: withOptions(row.Question, texts),
      grader: 'choice',
      answer: letterOf(options.findIndex(({ isRight }) => isRight)),
      ...optionsOf(texts),
      ...(row['High-level domain'] && { topic: row['High-level domain'] }),
    };
  },
});

/** An answer may repeat an option only where no other says the same. */
function optionsOf(options: readonly string[]): { options?: string[] } {
  const isClear = options.every((option, index) => option !== '' && options.indexOf(option) === index);
  return isClear ? { options: [...options] } : {};
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

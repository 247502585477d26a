import { z } from 'zod';
import { isMathematics } from '../../../grading/mathematics/normalize';
import { readRightChoice } from '../../../grading/read-choice';
import { defineFormat, nameOf, orJson } from '../format';

/** Longer ones cannot be judged by rule, and are left out, as in the paper. */
const MOST_CHARACTERS = 30;

const message = z.object({ role: z.string(), content: z.string() });
const short = z.union([z.string(), z.number().transform(String)]);

export const rlpr = defineFormat({
  name: 'RLPR',
  mapping: {
    id: 'extra_info.id, else a digest of the question',
    question: "the user's turn of prompt",
    answer: 'reward_model.ground_truth',
    grader: 'extra_info.answer_type: math, choice, else freeform',
    topic: 'ability',
    level: 'extra_info.difficulty',
  },
  schema: z.object({
    data_source: z.string(),
    prompt: orJson(z.array(message, { error: 'expected a list of messages' })),
    reward_model: orJson(z.object({ ground_truth: short })),
    ability: z.string().nullish(),
    extra_info: orJson(
      z.object({ id: short.nullish(), answer_type: z.string().nullish(), difficulty: short.nullish() }),
    ).optional(),
  }),
  draft: ({ prompt, reward_model: { ground_truth: right }, ability, extra_info: extra = {} }) => {
    if (right.length > MOST_CHARACTERS) {
      return { leftOut: `the right answer has more than ${MOST_CHARACTERS} characters` };
    }
    const question = prompt.findLast(({ role }) => role === 'user')?.content ?? '';
    return {
      id: extra.id ? `rlpr-${extra.id}` : nameOf('rlpr', question),
      source: 'RLPR',
      question,
      ...graderFor(right, extra.answer_type ?? ''),
      ...(ability && { topic: ability }),
      ...(extra.difficulty && { level: extra.difficulty }),
    };
  },
});

const MATHEMATICS = /^(?:Expression|Fraction|Matrix)$/i;

function graderFor(
  answer: string,
  type: string,
): { readonly grader: 'math' | 'choice' | 'freeform'; readonly answer: string } {
  if (/^multiple choice$/i.test(type) && readRightChoice(answer) !== null)
    return { grader: 'choice', answer };
  return { grader: MATHEMATICS.test(type) && isMathematics(answer) ? 'math' : 'freeform', answer };
}

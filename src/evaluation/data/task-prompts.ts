import type { Question } from '../../grading/question';

/** Forms of a question. `plain`: as in its set. `paper`: with the paper's further instructions, in our words. */
export type Prompts = 'plain' | 'paper';

/** Paper's form of a question: with an instruction to answer in a tag, or from another field of the row. */
export type PaperPrompt = { readonly asks: string } | { readonly field: string };

/** Returns the paper's instruction to answer in tags. `result` says what belongs in the answer tag. */
export function inTags(result: string): PaperPrompt {
  return {
    asks: `Write your work between <idea> and </idea>, then ${result} between <answer> and </answer>. Only what stands there counts.`,
  };
}

/** Returns the question of a row in the paper's form. */
export function asInPaper(
  question: Question,
  prompt: PaperPrompt,
  fields: Readonly<Record<string, unknown>>,
): Question {
  if ('field' in prompt) return { ...question, question: String(fields[prompt.field]) };
  return { ...question, question: `${question.question.trimEnd()}\n\n${prompt.asks}`, tagged: true };
}

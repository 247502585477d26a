import type { Question } from '../../grading/question';

/** `plain`: a question as its set has it. `paper`: with what the paper asks for beside it, in our words. */
export const PROMPTS = ['plain', 'paper'] as const;
export type Prompts = (typeof PROMPTS)[number];

/** How the paper asks a question of a set: in words behind it, for an answer in a tag, or by another field of the row. */
export type PaperPrompt = { readonly asks: string } | { readonly field: string };

/** What a question of the set is asked for in the paper's form. `result` says what belongs into the answer's tag. */
export function inTags(result: string): PaperPrompt {
  return {
    asks: `Write your work between <idea> and </idea>, then ${result} between <answer> and </answer>. Only what stands there counts.`,
  };
}

/** The question of a row in the paper's form. */
export function asInPaper(
  question: Question,
  prompt: PaperPrompt,
  fields: Readonly<Record<string, unknown>>,
): Question {
  if ('field' in prompt) return { ...question, question: String(fields[prompt.field]) };
  return { ...question, question: `${question.question.trimEnd()}\n\n${prompt.asks}`, tagged: true };
}

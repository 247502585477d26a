import { z } from 'zod';
import { compositionSets, type QuestionRow, SET_NAMES } from './questions';

/** Per set, 1 for each question that was answered correctly, else 0. */
export const scoresSchema = z.record(z.enum(SET_NAMES), z.array(z.number()).readonly());
export type Scores = Readonly<z.infer<typeof scoresSchema>>;

/** Held-out questions, `count` of each composition. */
export interface Exam {
  readonly name: string;
  readonly count: number;
}

/** @param answer returns an answer for each question, or null if there is none */
export async function scoreSets(
  { name, count }: Exam,
  answer: (rows: readonly QuestionRow[]) => Promise<readonly (string | null)[]>,
): Promise<Scores> {
  const scored: [string, readonly number[]][] = [];
  for (const [set, rows] of compositionSets('heldOut', count, name)) {
    const answers = await answer(rows);
    scored.push([set, rows.map((row, index) => (answers[index]?.trim() === row.answer ? 1 : 0))]);
  }
  return scoresSchema.parse(Object.fromEntries(scored));
}

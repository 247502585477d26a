import { grade, type RightAnswer } from './grade';
import { type Grade, isClipped } from './verdict';

/** Comparisons of mathematics may take seconds each; whatever is left then counts by its text alone. */
const MOST_MS = 5 * 60_000;

/**
 * The place of the first answer that the grader holds equal to each one; null where an answer settles on nothing.
 * Programs, and answers that only a person's own grader understands, are equal where their texts are.
 */
export async function groupSame(
  question: RightAnswer,
  grades: readonly Grade[],
): Promise<readonly (number | null)[]> {
  const end = Date.now() + MOST_MS;
  const firsts: { readonly place: number; readonly grade: Grade }[] = [];
  const groups: (number | null)[] = [];
  for (const [place, each] of grades.entries()) {
    if (each.extracted === null) {
      groups.push(null);
      continue;
    }
    let group: number | null = null;
    for (const first of firsts) {
      if (await isSame(question, first.grade, each, end)) group = first.place;
      if (group !== null) break;
    }
    if (group === null) firsts.push({ place, grade: each });
    groups.push(group ?? place);
  }
  return groups;
}

async function isSame(question: RightAnswer, one: Grade, other: Grade, end: number): Promise<boolean> {
  if (one.extracted === other.extracted) return true;
  if (question.grader === 'code' || question.grader === 'custom') return false;
  if (one.verdict !== other.verdict) return false;
  if (one.verdict === 'correct') return true;
  if (Date.now() > end || [one, other].some(({ extracted }) => isClipped(extracted ?? ''))) return false;
  const { verdict } = await grade({ ...question, answer: one.extracted ?? '' }, other.extracted ?? '');
  return verdict === 'correct';
}

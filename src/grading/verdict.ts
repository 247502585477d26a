/**
 * Verdict on an answer. `unparseable`: it settles on nothing, or on two things. `ungraded`: the grader could not
 * judge it, so it counts neither for nor against the model.
 */
export type Verdict = 'correct' | 'wrong' | 'unparseable' | 'ungraded';

export interface Grade {
  readonly verdict: Verdict;
  readonly extracted: string | null;
  /** One sentence for a person who doubts the verdict. */
  readonly reason: string;
  /** Grader and version of its rules, and of each library that was asked: `math/6 compute-engine/0.140.0`. */
  readonly graderVersion: string;
}

const MOST_SHOWN = 200;

/** Shortens a text from a reply for a sentence or a grade: one line, cut after 200 characters. */
export function shown(text: string): string {
  const start = text.trim().slice(0, MOST_SHOWN).replace(/\s/g, ' ');
  return text.trim().length > MOST_SHOWN ? `${start}…` : start;
}

/** Whether `shown` left something out. */
export function isClipped(text: string): boolean {
  return text.length > MOST_SHOWN;
}

export function gradeOf(version: string, verdict: Verdict, extracted: string | null, reason: string): Grade {
  const read = extracted === null ? null : shown(extracted);
  return { verdict, extracted: read, reason, graderVersion: version };
}

import { LIMIT_RULES, type LimitsChange, NO_LIMIT } from '../../../src/protocol/messages';

/** Limits that have a field, by their labels. */
export const LIMIT_LABELS = { costUsd: 'Limit in USD', steps: 'Steps per plan', depth: 'Depth' } as const;
type FieldLimit = keyof typeof LIMIT_LABELS & keyof LimitsChange;

/** Returns the text of a limit in its field; a field without a limit is empty. */
export const textOfLimit = (limit: number | null): string => (limit === null ? '' : String(limit));

/** Returns the limit that was typed into a field; null if it is empty. */
export const limitIn = (text: string): number | null => (text.trim() === '' ? null : Number(text));

/** Returns what is wrong with the first of these texts, by the rule of a run, or null. JSON would lift such a limit. */
export function findLimitProblem(texts: Partial<Readonly<Record<FieldLimit, string>>>): string | null {
  for (const [name, text] of Object.entries(texts) as [FieldLimit, string][]) {
    const { isMet, expected } = LIMIT_RULES[name];
    if (isMet(limitIn(text))) continue;
    const shown = text.trim() === '' ? 'empty' : JSON.stringify(text.slice(0, 40));
    return `${LIMIT_LABELS[name]} is ${shown}: it must be ${expected.replace(NO_LIMIT, 'empty for no limit')}.`;
  }
  return null;
}

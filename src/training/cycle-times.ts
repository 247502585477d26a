import type { CycleTimes } from './progress';
import { covered, type Span } from './spans';
import type { GroupPart } from './train-input';

/** The parts of a cycle: those of its groups, and what is made of them. */
export type CyclePart = GroupPart | 'update' | 'publish';

/**
 * Sums up when the parts of a cycle were under way.
 *
 * @param whole milliseconds from the cycle's first draw to its figures
 */
export function cycleTimes(spans: readonly Span<CyclePart>[], whole: number): CycleTimes {
  const of = (part: CyclePart): number => covered(spans.filter((span) => span.part === part));
  return {
    sampling: of('sampling'),
    rollouts: of('rollouts'),
    grading: of('grading'),
    update: of('update'),
    publish: of('publish'),
    between: whole - covered(spans),
    whole,
  };
}

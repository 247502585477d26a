import type { CycleTimes } from './records';

export type GroupPart = 'sampling' | 'rollouts' | 'grading';
export type CyclePart = GroupPart | 'update' | 'publish';

/** When a part of some work was under way, in epoch milliseconds. */
export interface Span<Part extends string = string> {
  readonly part: Part;
  readonly from: number;
  readonly to: number;
}

/** Notes when the parts of some work were under way, by the workflow's clock; parts may overlap. */
export class Stopwatch<Part extends string> {
  readonly spans: Span<Part>[] = [];

  async time<Result>(part: Part, work: () => Promise<Result>): Promise<Result> {
    const from = Date.now();
    try {
      return await work();
    } finally {
      this.spans.push({ part, from, to: Date.now() });
    }
  }
}

/**
 * Sums up when the parts of a cycle were under way.
 *
 * @param from when the cycle began; what was done for it ahead was done in the cycle before
 */
export function cycleTimes(spans: readonly Span<CyclePart>[], from: number, to: number): CycleTimes {
  const of = (part: CyclePart): number => covered(spans.filter((span) => span.part === part));
  const own = spans.filter((span) => span.to > from);
  return {
    sampling: of('sampling'),
    rollouts: of('rollouts'),
    grading: of('grading'),
    update: of('update'),
    publish: of('publish'),
    between: to - from - covered(own, from),
    whole: to - from,
  };
}

/** How long at least one of the spans was under way: what overlaps counts once. */
function covered(spans: readonly Span[], since = -Infinity): number {
  const ordered = spans.toSorted((one, other) => one.from - other.from);
  let sum = 0;
  let end = since;
  for (const { from, to } of ordered) {
    sum += Math.max(0, to - Math.max(from, end));
    end = Math.max(end, to);
  }
  return sum;
}

/** When a part of some work was under way, in epoch milliseconds. */
export interface Span<Part extends string = string> {
  readonly part: Part;
  readonly from: number;
  readonly to: number;
}

/** How long at least one of the spans was under way: what overlaps counts once. */
export function covered(spans: readonly Span[]): number {
  const ordered = spans.toSorted((one, other) => one.from - other.from);
  let sum = 0;
  let end = -Infinity;
  for (const { from, to } of ordered) {
    sum += Math.max(0, to - Math.max(from, end));
    end = Math.max(end, to);
  }
  return sum;
}

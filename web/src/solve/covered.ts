/** A span of time, in milliseconds since 1970. */
export type Span = readonly [start: number, end: number];

/** Returns how long it was covered by at least one of the spans, in milliseconds: teams may wait at the same time. */
export function coveredMs(spans: readonly Span[]): number {
  let [covered, until] = [0, -Infinity];
  for (const [start, end] of [...spans].sort(([one], [other]) => one - other)) {
    covered += Math.max(0, end - Math.max(start, until));
    until = Math.max(until, end);
  }
  return covered;
}

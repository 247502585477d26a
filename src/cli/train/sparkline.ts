const BARS = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'] as const;

/**
 * Numbers as a line of small bars, the least one lowest: a curve in one line of a terminal. Of more numbers than columns,
 * each bar is the mean of some that follow each other.
 */
export function sparkline(values: readonly number[], columns: number): string {
  const means = gather(values, columns);
  const least = Math.min(...means);
  const range = Math.max(...means) - least;
  return means
    .map((value) => (range === 0 ? 0.5 : (value - least) / range))
    .map((height) => BARS[Math.min(BARS.length - 1, Math.floor(height * BARS.length))] ?? BARS[0])
    .join('');
}

function gather(values: readonly number[], columns: number): number[] {
  const count = Math.min(values.length, Math.max(0, columns));
  const bound = (place: number): number => Math.floor((place * values.length) / count);
  return Array.from({ length: count }, (_, place) => {
    const part = values.slice(bound(place), bound(place + 1));
    return part.reduce((sum, value) => sum + value, 0) / part.length;
  });
}

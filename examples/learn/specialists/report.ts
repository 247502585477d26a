import { randomFrom } from '../../../src/evaluation/chance';
import { mean } from '../plain/scoring';
import type { Scores } from './baselines';
import type { KeptSeed } from './seed';

// The table of what was learned, beside what can be had without learning.

const SETS = ['singles', 'trained pairs', 'held-out pairs', 'trained triples', 'held-out triples'] as const;

/** Lines of a table: accuracy by set, of baselines and of what the seeds came to. */
export function describeSeeds(
  baselines: Readonly<Record<string, Scores>>,
  kept: readonly KeptSeed[],
): string[] {
  const rows: [string, readonly Scores[]][] = [
    ...Object.entries(baselines).map(([name, scores]): [string, Scores[]] => [name, [scores]]),
    ['warm start', kept.map(({ warm }) => warm as unknown as Scores)],
    ...Object.keys(kept[0]?.learned ?? {}).map((name): [string, Scores[]] => [
      name,
      kept.flatMap(({ learned }) => (learned?.[name] ?? []) as unknown as Scores),
    ]),
  ];
  const width = Math.max(...rows.map(([name]) => name.length));
  return [
    ' '.repeat(width) + SETS.map((set) => set.padStart(18)).join(''),
    ...rows.map(([name, seeds]) => {
      const cells = SETS.map((set) => mean(seeds.map((scores) => mean(scores[set]))).toFixed(3));
      return name.padEnd(width) + cells.map((cell) => cell.padStart(18)).join('');
    }),
  ];
}

const DRAWS = 2000;

/** 95 % interval of the mean accuracy, by drawing seeds, and questions within each, with replacement. */
export function intervalOf(seeds: readonly (readonly number[])[]): readonly [number, number] {
  const random = randomFrom('bootstrap');
  const pick = <Item>(items: readonly Item[]): Item | undefined => items[Math.floor(random() * items.length)];
  const means = Array.from({ length: DRAWS }, () =>
    mean(
      seeds.map(() => {
        const own = pick(seeds) ?? [];
        return mean(own.map(() => pick(own) ?? 0));
      }),
    ),
  ).sort((one, other) => one - other);
  return [means[Math.floor(0.025 * DRAWS)] ?? NaN, means[Math.ceil(0.975 * DRAWS) - 1] ?? NaN];
}

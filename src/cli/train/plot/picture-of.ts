import type { CycleMetrics } from '../../../training/progress';
import type { Picture } from './panel';

/** A picture of these cycles, headed by what they are. */
export function pictureOf(
  cycles: readonly CycleMetrics[],
  { title, ...picture }: Pick<Picture, 'file' | 'title' | 'panels'>,
): Picture {
  const nightStarts = cycles.filter(({ night }, index) => index > 0 && night !== cycles[index - 1]?.night);
  return {
    ...picture,
    title: `Training run ${cycles[0]?.trainRun ?? ''}: ${title}`,
    subtitle: factsOf(cycles).join(' · '),
    cycles: cycles.map(({ cycle }) => cycle),
    nightStarts: nightStarts.map(({ cycle }) => cycle),
  };
}

function factsOf(cycles: readonly CycleMetrics[]): string[] {
  const [first, last] = [cycles[0], cycles.at(-1)];
  if (first === undefined || last === undefined) return [];
  return [
    first === last ? `cycle ${first.cycle}` : `cycles ${first.cycle}–${last.cycle}`,
    first.night === last.night
      ? `night of ${first.night}`
      : `nights ${first.night} to ${last.night} (dotted: where one begins)`,
  ];
}

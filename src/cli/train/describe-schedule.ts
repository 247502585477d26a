import type { NightSchedule } from '../../client/training/night-schedule';

const NIGHTS_SHOWN = 3;

/** The next nights in one line, in the clocks of their zone, or why there are none. */
export function describeSchedule({ next, timeZone, isPaused, note }: NightSchedule): string {
  if (isPaused) {
    const why = note === null ? '' : `: ${note}`;
    return `is paused${why}; go on with: temporal-conductor train schedule --resume`;
  }
  if (next.length === 0) return 'is never due again';
  return `next ${next
    .slice(0, NIGHTS_SHOWN)
    .map((time) => describeTime(time, timeZone))
    .join(' · ')} (${timeZone})`;
}

/** `Sun, 22 Nov 2026, 03:30` on the clocks of a zone. */
function describeTime(time: Date, timeZone: string): string {
  return new Intl.DateTimeFormat('en-GB', {
    timeZone,
    weekday: 'short',
    day: 'numeric',
    month: 'short',
    year: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
  }).format(time);
}

import { describeUsd } from '../../../trace/describe';
import { oneLine } from '../../../trace/one-line';
import type { Paint } from '../../../trace/paint';
import type { NightProgress } from '../../../training/progress';
import { describeHours } from '../describe-hours';
import { sparkline } from '../sparkline';

/** What a picture of a night is drawn with. */
export interface NightFrame {
  readonly paint: Paint;
  readonly columns: number;
  /** Milliseconds since 1970. */
  readonly now: number;
}

const BAR_COLUMNS = 32;
const CURVE_COLUMNS = 48;

/** One picture of a night under way: how far it is, how much longer it may take, what it learned and spent. A string a line. */
export function drawNight(progress: NightProgress, { paint, columns, now }: NightFrame): string[] {
  const { trainRun, night, status, phase, warning } = progress;
  return [
    paint.strong(oneLine(`${trainRun} · night ${night} · ${status}`, columns)),
    `${drawBar(progress, paint)} ${oneLine([...describeCycles(progress), phase].join(' · '), columns - BAR_COLUMNS - 1)}`,
    ...drawRewards(progress, paint),
    paint.faint(oneLine(describeSums(progress, now).join(' · '), columns)),
    ...(warning === null ? [] : [paint.bad(oneLine(warning, columns))]),
  ];
}

function drawBar(progress: NightProgress, paint: Paint): string {
  const { cycles, done } = progress;
  const share = hasClaimed(progress) ? (done - cycles.first + 1) / (cycles.last - cycles.first + 1) : 0;
  const full = Math.round(share * BAR_COLUMNS);
  return paint.good('█'.repeat(full)) + paint.faint('░'.repeat(BAR_COLUMNS - full));
}

function describeCycles(progress: NightProgress): string[] {
  if (!hasClaimed(progress)) return [];
  const { first, last } = progress.cycles;
  const span = `cycles ${first} to ${last}`;
  return [progress.done < first ? span : `cycle ${progress.done} done of ${span}`];
}

/** Before that, there are none to count. */
function hasClaimed({ cycles: { first, last } }: NightProgress): boolean {
  return first > 0 && last >= first;
}

function drawRewards({ rewards, best }: NightProgress, paint: Paint): string[] {
  const [first] = rewards;
  const latest = rewards.at(-1);
  if (first === undefined || latest === undefined) return [];
  const figures = `${first.toFixed(3)} → ${latest.toFixed(3)}`;
  const held =
    best === null ? '' : paint.faint(`  best held out ${best.heldOut.toFixed(3)}: ${best.checkpoint}`);
  return [`reward ${paint.busy(sparkline(rewards, CURVE_COLUMNS))} ${figures}${held}`];
}

function describeSums(progress: NightProgress, now: number): string[] {
  const { spentNanoUsd, startedAt } = progress;
  const elapsed = Math.max(0, now - Date.parse(startedAt));
  const remaining = remainingMs(progress, elapsed);
  return [
    spentNanoUsd === null ? 'cost unknown' : `${describeUsd(spentNanoUsd / 1e9)} spent`,
    `${describeHours(elapsed)} so far`,
    ...(remaining === null ? [] : [`about ${describeHours(remaining)} to go`]),
  ];
}

/** By the mean of the cycles so far; null before there is one, and while nothing goes on. */
function remainingMs({ cycles, done, rewards, status }: NightProgress, elapsed: number): number | null {
  const left = cycles.last - done;
  if (status !== 'running' || rewards.length === 0 || left <= 0) return null;
  return (elapsed / rewards.length) * left;
}

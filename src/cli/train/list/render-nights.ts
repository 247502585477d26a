import type { NightRecord } from '../../../client/training/read-nights';
import { counted } from '../../../trace/counted';
import { describeUsd } from '../../../trace/describe';
import { oneLine } from '../../../trace/one-line';
import type { Paint } from '../../../trace/paint';
import { sparkline } from '../sparkline';

const CURVE_COLUMNS = 24;

/** Nights for a terminal: of each the cycles, how the reward went, and below it what was decided of it. */
export function renderNights(
  nights: readonly NightRecord[],
  { paint, columns }: { readonly paint: Paint; readonly columns: number },
): string {
  return nights
    .flatMap((record) => [
      renderNight(record, paint),
      ...record.decisions.map((decision) => paint.faint(`  ${oneLine(decision, columns - 2)}`)),
    ])
    .join('\n');
}

function renderNight({ night, cycles }: NightRecord, paint: Paint): string {
  const rewards = cycles.map(({ rewardMean }) => rewardMean);
  const [first = 0] = rewards;
  const facts = [
    counted(cycles.length, 'cycle'),
    `reward ${first.toFixed(3)} → ${(rewards.at(-1) ?? 0).toFixed(3)}`,
    ...heldOutOf(cycles),
    costOf(cycles),
    cycles.at(-1)?.checkpoint ?? '',
  ];
  return `${paint.strong(night)} ${paint.busy(sparkline(rewards, CURVE_COLUMNS))} ${facts.join(' · ')}`;
}

function heldOutOf(cycles: NightRecord['cycles']): string[] {
  const latest = cycles.flatMap(({ heldOut }) => heldOut ?? []).at(-1);
  return latest === undefined ? [] : [`held out ${latest.toFixed(3)}`];
}

/** Metrics know the mean of a rollout; what a night spent in all is in the ledger. */
function costOf(cycles: NightRecord['cycles']): string {
  const costs = cycles.flatMap(({ usd }) => usd ?? []);
  if (costs.length < cycles.length || costs.length === 0) return 'cost unknown';
  return `${describeUsd(costs.reduce((sum, usd) => sum + usd, 0) / costs.length)} a rollout`;
}

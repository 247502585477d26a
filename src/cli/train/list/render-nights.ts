import type { TrainedNight } from '../../../client/training/read-nights';
import { counted } from '../../../trace/counted';
import { describeUsd } from '../../../trace/describe';
import { oneLine } from '../../../trace/one-line';
import type { Paint } from '../../../trace/paint';
import { checkpointId } from '../../../training/manifest';
import { sparkline } from '../sparkline';

const CURVE_COLUMNS = 24;

/** Nights for a terminal: of each the cycles, how the reward went, and below it what was decided of it. */
export function renderNights(
  nights: readonly TrainedNight[],
  { paint, columns }: { readonly paint: Paint; readonly columns: number },
): string {
  return nights
    .flatMap((night) => [
      `${paint.strong(night.date)} ${[stateOf(night), ...rewardsOf(night, paint)].join(' · ')}`,
      ...(night.decision === null ? [] : [paint.faint(`  ${oneLine(night.decision, columns - 2)}`)]),
    ])
    .join('\n');
}

function stateOf({ first, last, done, closedAt }: TrainedNight): string {
  const cycles = counted(done - first + 1, 'cycle');
  return closedAt === null ? `${cycles} of ${last - first + 1}, not over` : cycles;
}

function rewardsOf({ cycles, checkpoint }: TrainedNight, paint: Paint): string[] {
  const rewards = cycles.map(({ rewardMean }) => rewardMean);
  const [first] = rewards;
  const latest = rewards.at(-1);
  if (first === undefined || latest === undefined) return [];
  return [
    `reward ${paint.busy(sparkline(rewards, CURVE_COLUMNS))} ${first.toFixed(3)} → ${latest.toFixed(3)}`,
    ...heldOutOf(cycles),
    costOf(cycles),
    ...(checkpoint === null ? [] : [checkpointId(checkpoint)]),
  ];
}

function heldOutOf(cycles: TrainedNight['cycles']): string[] {
  const latest = cycles.flatMap(({ heldOut }) => heldOut ?? []).at(-1);
  return latest === undefined ? [] : [`held out ${latest.toFixed(3)}`];
}

/** Metrics know the mean of a rollout; what a night spent in all is in the ledger. */
function costOf(cycles: TrainedNight['cycles']): string {
  const costs = cycles.flatMap(({ usd }) => usd ?? []);
  if (costs.length < cycles.length) return 'cost unknown';
  return `${describeUsd(costs.reduce((sum, usd) => sum + usd, 0) / costs.length)} a rollout`;
}

import { lowerBound95 } from '../../../src/training/statistics';
import { halfWidth95 } from './half-width';
import { mean } from './mean';
import type { Taught } from './teach';
import type { TeamScore } from './try-teams';

/** A policy on the same questions with the same teams, their notes their own and swapped among them. */
export interface PoolTrial {
  readonly own: readonly TeamScore[];
  readonly swapped: readonly TeamScore[];
}

/** What teams that were never trained on must reach of their own optimum, and a warm start must not. */
const LEAST_RATIO = 0.9;

/** Whether teams never trained on come near their own optimum, which they did not before, and notes are read. */
export function holdsForPools({ before, after }: Taught<PoolTrial>): boolean {
  const isReached = ratioOf(after.own) >= LEAST_RATIO && ratioOf(before.own) < LEAST_RATIO;
  return isReached && (lowerBound95(lossesOf(after)) ?? 0) > 0;
}

/** The figures of that in one line. */
export function tellPools({ before, after }: Taught<PoolTrial>): string {
  const { own, swapped } = after;
  const ratio = ratioOf(own);
  const spread = halfWidth95(own.map(({ reward, best }) => reward - ratio * best)) / bestOf(own);
  const loss = (mean(lossesOf(after)) / bestOf(own)).toFixed(3);
  const lossSpread = (halfWidth95(lossesOf(after)) / bestOf(own)).toFixed(3);
  return (
    `pools: held-out subsets ratio ${ratio.toFixed(3)} ± ${spread.toFixed(3)} (start ${ratioOf(before.own).toFixed(3)}, ` +
    `notes permuted ${ratioOf(swapped).toFixed(3)}: less by ${loss} ± ${lossSpread})`
  );
}

/** The ratio of each team. */
export function tellTeams(scores: readonly TeamScore[]): string {
  const teams = [...new Set(scores.map(({ team }) => team))];
  return teams
    .map((team) => `${team.join('+')} ${ratioOf(scores.filter((score) => score.team === team)).toFixed(3)}`)
    .join('  ');
}

/** Mean reward over that of the best plans. */
export function ratioOf(scores: readonly TeamScore[]): number {
  return mean(scores.map(({ reward }) => reward)) / bestOf(scores);
}

function bestOf(scores: readonly TeamScore[]): number {
  return mean(scores.map(({ best }) => best));
}

/** What swapped notes cost, question by question. */
function lossesOf({ own, swapped }: PoolTrial): number[] {
  return own.map(({ reward }, index) => reward - (swapped[index]?.reward ?? reward));
}

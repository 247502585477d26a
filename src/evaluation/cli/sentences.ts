import { counted } from '../../trace/describe';
import type { Comparison } from '../compare';
import { describeP, describeSmallest, signed } from './table';

/** How one method compares with another, and what chance has to do with it. @param whom what the other one is */
export function compareSentence(one: string, comparison: Comparison, whom: string): string {
  const { against, gain, interval, p, pairs } = comparison;
  const [low, high] = interval;
  const found =
    `${one} against ${against}${whom}: ${signed(gain)}, between ${signed(low)} and ` +
    `${signed(high)}, p ${describeP(comparison)}`;
  if (p < 0.05) return `${found}.`;
  const smallest = describeSmallest(comparison);
  const could =
    smallest === 'none'
      ? `${counted(pairs, 'question')} are too few to find any difference`
      : `a difference of ${smallest} could have been found`;
  return `${found}: it may be chance, and ${could}.`;
}

import { counted } from '../../trace/describe';
import { type Comparison, signed } from '../statistics';
import { describeP, describeSmallest } from './table';

/** How one method compares with another, and what chance has to do with it. @param whom what the other one is */
export function compareSentence(one: string, comparison: Comparison, whom: string): string {
  const { against, gain, interval, p, pairs } = comparison;
  const [low, high] = interval;
  const found =
    `${one} against ${against}${whom}: ${signed(gain)}, between ${signed(low)} and ` +
    `${signed(high)}, p ${describeP(comparison)}`;
  if (p < 0.05) return `${found}.`;
  const smallest = describeSmallest(comparison);
  const questions = counted(pairs, 'question');
  return smallest === 'none'
    ? `${found}. No difference was found; ${questions} are too few to find any.`
    : `${found}. No difference was found; with ${questions} only one of ${smallest} or more would have shown.`;
}

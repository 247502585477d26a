import { rewardOfRoot } from '../../../src/training/reward';
import type { Desk, Sampled } from './lesson';
import { type GroupWish, type Played, playRound, type Root } from './play-round';

/**
 * Has a policy write a group's plans and carries them out; with two rounds, has it review each answer, and gives each
 * first plan its share of what became of it. Round by round.
 */
export async function playGroup(desk: Desk, policy: Sampled, wish: GroupWish): Promise<Played[][]> {
  const { rounds, rootDiscount } = desk.recipe.recursion;
  const first = await playRound(desk, policy, wish, null);
  const roots = rounds === 2 ? first.filter(hasAnswer) : [];
  if (roots.length === 0) return [first];
  const second = await playRound(desk, policy, wish, roots);
  const later = new Map(second.map(({ root, reward }) => [root, reward]));
  const discounted = first.map((played) => {
    const after = later.get(played.root);
    if (after === undefined) return played;
    return { ...played, reward: rewardOfRoot(played.reward, after, rootDiscount) };
  });
  return [discounted, second];
}

function hasAnswer(played: Played): played is Root {
  return played.plan !== null && played.answer !== null;
}

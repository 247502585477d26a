import { draw } from '../draw';

/** Numbers in [0, 1), one after the other; the same ones for the same key. */
export interface Dice {
  roll(): number;
  /** One of several, each as likely. */
  pick<T>(items: readonly T[]): T;
  /** Whether something of this chance comes to pass. */
  happens(chance: number): boolean;
}

/** Dice of one's own: what others roll changes nothing here. */
export function diceFor(...key: readonly (string | number)[]): Dice {
  let rolled = 0;
  const roll = (): number => draw(...key, (rolled += 1));
  return {
    roll,
    pick: (items) => {
      const item = items[Math.floor(roll() * items.length)];
      if (item === undefined) throw new RangeError('There is nothing to pick from; give at least one item.');
      return item;
    },
    happens: (chance) => roll() < chance,
  };
}

import { z } from 'zod';
import type { Table } from '../../src/report/report';
import { mean } from '../plain/scoring';
import { type Dice, diceFor } from '../world/world';
import type { Crew } from './crew';
import { drawTask, REFUSAL, rightAnswer, type WorkerTask } from './workers';
import { ALL_PHRASES, type Phrase, type Phrasing, type Skill, SKILLS } from './skills';

/** How often each worker performs a skill correctly when asked in phrases of one group. */
export const abilitiesSchema = z.array(
  z.object({
    worker: z.string(),
    skill: z.enum(SKILLS),
    phrasing: z.enum(['plain', 'fancy']),
    accuracy: z.number(),
  }),
);
export type Ability = Readonly<z.infer<typeof abilitiesSchema>[number]>;

/** Calls per worker, skill and group of phrases. */
const CALLS = 40;

/** Measures what the workers can do, on numbers and words that none of them was shown. */
export async function measureAbilities(crew: Crew): Promise<Ability[]> {
  const asked = crew.ids.flatMap((worker) =>
    SKILLS.flatMap((skill) => (['plain', 'fancy'] as const).map((phrasing) => ({ worker, skill, phrasing }))),
  );
  return Promise.all(
    asked.map(async ({ worker, skill, phrasing }) => {
      const dice = diceFor('abilities', skill, phrasing);
      const phrases = ALL_PHRASES.filter((phrase) => phrase.skill === skill && phrase.phrasing === phrasing);
      const right = Array.from({ length: CALLS }, async () => {
        const task = drawAnswerable(dice.pick(phrases), dice);
        return (await crew.ask(worker, task)).trim() === rightAnswer(task, skill) ? 1 : 0;
      });
      return { worker, skill, phrasing, accuracy: mean(await Promise.all(right)) };
    }),
  );
}

/** Draws a call whose right answer is not a refusal. */
function drawAnswerable(phrase: Phrase, dice: Dice): WorkerTask {
  for (;;) {
    const task = drawTask(phrase, 'heldOut', dice);
    if (rightAnswer(task, phrase.skill) !== REFUSAL) return task;
  }
}

/** Returns a row per worker: its accuracy by skill, in plain / fancy phrases. */
export function abilityTable(abilities: readonly Ability[]): Table {
  const workers = [...new Set(abilities.map(({ worker }) => worker))];
  const accuracy = (worker: string, skill: Skill, phrasing: Phrasing): string => {
    const found = abilities.find(
      (each) => each.worker === worker && each.skill === skill && each.phrasing === phrasing,
    );
    return (found?.accuracy ?? 0).toFixed(2);
  };
  return {
    rows: [
      ['', ...SKILLS],
      ...workers.map((worker) => [
        worker,
        ...SKILLS.map((skill) => `${accuracy(worker, skill, 'plain')} / ${accuracy(worker, skill, 'fancy')}`),
      ]),
    ],
    numeric: true,
  };
}

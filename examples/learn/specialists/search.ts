import { Readable } from 'node:stream';
import type { Plan, Step } from '../../../src/plan/plan';
import type { Crew } from './crew';
import type { Ability } from './matrix';
import type { QuestionRow } from './questions';
import { REFUSAL } from './workers';
import { ALL_PHRASES, type Phrase, toSubtask } from './skills';

// Plans that somebody who tried them all would choose. A plan is a chain here: each step sees what was before it, since
// a step that nobody sees changes nothing.

/** A worker and what it is asked. */
interface Link {
  readonly worker: string;
  readonly subtask: string;
}

/** Chains that answer a question rightly, each as the places of its links. */
interface Solved {
  readonly topic: string;
  readonly chains: ReadonlySet<string>;
}

/** Steps of the longest chain. */
const LONGEST = 3;
/** A worker that does a skill less often than this is not asked for it. */
const LEAST_ABILITY = 0.05;

/** All chains of up to three steps on some questions. */
export interface Search {
  readonly links: readonly Link[];
  readonly solved: readonly Solved[];
}

/** Tries every chain of the workers' abilities, in one phrase of each group, on every question. */
export async function searchPlans(
  crew: Crew,
  abilities: readonly Ability[],
  questions: readonly QuestionRow[],
): Promise<Search> {
  const links = abilities
    .filter(({ accuracy }) => accuracy >= LEAST_ABILITY)
    .map(({ worker, skill, phrasing }) => ({
      worker,
      subtask: toSubtask(phraseOf({ skill, phrasing })),
    }));
  const solved = await Readable.from(questions)
    .map(async (row: QuestionRow) => ({ topic: row.topic, chains: await solve(crew, links, row) }), {
      concurrency: 4,
    })
    .toArray();
  return { links, solved: solved as Solved[] };
}

function phraseOf({ skill, phrasing }: Pick<Phrase, 'skill' | 'phrasing'>): Phrase {
  const phrase = ALL_PHRASES.find((each) => each.skill === skill && each.phrasing === phrasing);
  if (phrase === undefined) throw new RangeError(`There is no ${phrasing} phrase for ${skill}.`);
  return phrase;
}

/** What a chain came to. */
interface Made {
  readonly chain: readonly number[];
  readonly outputs: readonly string[];
}

async function solve(
  crew: Crew,
  links: readonly Link[],
  { question, answer }: QuestionRow,
): Promise<Set<string>> {
  const chains = new Set<string>();
  let made: Made[] = [{ chain: [], outputs: [] }];
  for (let length = 1; length <= LONGEST; length += 1) {
    const longer = made.flatMap((before) => links.map((_, link) => ({ before, link })));
    made = (
      await Promise.all(
        longer.map(async ({ before, link }): Promise<Made> => {
          const chain = [...before.chain, link];
          const { steps } = toPlan(chain, links);
          const sees = before.outputs.map((output, step) => ({
            step,
            subtask: steps[step]?.subtask ?? '',
            output,
          }));
          const { worker = '', subtask = '' } = links[link] ?? {};
          const output = await crew.ask(worker, { question, subtask, sees });
          return { chain, outputs: [...before.outputs, output] };
        }),
      )
    ).filter(({ outputs }) => outputs.at(-1) !== REFUSAL);
    for (const { chain, outputs } of made) if (outputs.at(-1)?.trim() === answer) chains.add(chain.join());
  }
  return chains;
}

function toPlan(chain: readonly number[], links: readonly Link[]): Plan {
  const steps = chain.map((link, step): Step => {
    const { worker = '', subtask = '' } = links[link] ?? {};
    return { worker, subtask, sees: Array.from({ length: step }, (_, earlier) => earlier) };
  });
  return { steps };
}

/** A plan that was chosen, and the share of questions that it answers among those it was chosen on. */
export interface Chosen {
  readonly plan: Plan;
  readonly accuracy: number;
}

/** The one plan that answers most questions of some topics; of several the shortest. */
export function bestPlan({ links, solved }: Search, topics: readonly string[], longest = LONGEST): Chosen {
  const asked = solved.filter(({ topic }) => topics.includes(topic));
  const counts = new Map<string, number>();
  for (const { chains } of asked) {
    for (const chain of chains) counts.set(chain, (counts.get(chain) ?? 0) + 1);
  }
  const lengthOf = (chain: string): number => chain.split(',').length;
  const [best] = [...counts]
    .filter(([chain]) => lengthOf(chain) <= longest)
    .sort(([one, first], [other, second]) => second - first || lengthOf(one) - lengthOf(other));
  if (best === undefined) return { plan: toPlan([0], links), accuracy: 0 };
  const [chain, count] = best;
  return { plan: toPlan(chain.split(',').map(Number), links), accuracy: count / asked.length };
}

import { Readable } from 'node:stream';
import type { Plan, Step } from '../../src/plan/plan';
import type { Crew } from './crew';
import type { Ability } from './matrix';
import type { Composition, QuestionRow } from './questions';
import { REFUSAL } from './workers';
import { ALL_PHRASES, type Phrase, toSubtask } from './skills';

// Best plans by exhaustive search. A plan is a chain here: each step sees all earlier ones, since a step that no
// other sees changes nothing.

/** A worker and its subtask. */
interface Link extends Pick<Phrase, 'skill'> {
  readonly worker: string;
  readonly subtask: string;
}

/** Chains that answer a question correctly, each as the indices of its links. */
interface Solved {
  readonly topic: string;
  readonly chains: ReadonlySet<string>;
}

/** Minimum accuracy of a worker in a skill to be asked for it. */
const LEAST_ABILITY = 0.5;

/** Results of a search on some questions. */
export interface Search {
  readonly links: readonly Link[];
  readonly solved: readonly Solved[];
}

/**
 * Tries every chain that performs the skills of some composition on every question, with all workers that can and one
 * phrase of each group.
 */
export async function searchPlans(
  crew: Crew,
  abilities: readonly Ability[],
  questions: readonly QuestionRow[],
  compositions: readonly Composition[],
): Promise<Search> {
  const links = abilities
    .filter(({ accuracy }) => accuracy >= LEAST_ABILITY)
    .map(({ worker, skill, phrasing }) => ({
      worker,
      skill,
      subtask: toSubtask(phraseOf({ skill, phrasing })),
    }));
  const prefixes = new Set(compositions.flatMap((composition) => prefixesOf(composition, links)));
  const solved = await Readable.from(questions)
    .map(
      async (row: QuestionRow) => ({ topic: row.topic, chains: await solve(crew, { links, prefixes }, row) }),
      {
        concurrency: 4,
      },
    )
    .toArray();
  return { links, solved: solved as Solved[] };
}

/** Returns chains that perform the first skills of a composition, each as the indices of its links. */
function prefixesOf(composition: Composition, links: readonly Link[]): string[] {
  let chains: readonly (readonly number[])[] = [[]];
  const prefixes: string[] = [];
  for (const skill of composition) {
    const fit = [...links.keys()].filter((link) => links[link]?.skill === skill);
    chains = chains.flatMap((chain) => fit.map((link) => [...chain, link]));
    prefixes.push(...chains.map((chain) => chain.join()));
  }
  return prefixes;
}

function phraseOf({ skill, phrasing }: Pick<Phrase, 'skill' | 'phrasing'>): Phrase {
  const phrase = ALL_PHRASES.find((each) => each.skill === skill && each.phrasing === phrasing);
  if (phrase === undefined) throw new RangeError(`There is no ${phrasing} phrase for ${skill}.`);
  return phrase;
}

/** Outputs of a chain. */
interface Made {
  readonly chain: readonly number[];
  readonly outputs: readonly string[];
}

async function solve(
  crew: Crew,
  { links, prefixes }: { readonly links: readonly Link[]; readonly prefixes: ReadonlySet<string> },
  { question, answer }: QuestionRow,
): Promise<Set<string>> {
  const chains = new Set<string>();
  let made: Made[] = [{ chain: [], outputs: [] }];
  while (made.length > 0) {
    const longer = made
      .flatMap((before) => [...links.keys()].map((link) => ({ before, chain: [...before.chain, link] })))
      .filter(({ chain }) => prefixes.has(chain.join()));
    made = (await Promise.all(longer.map((each) => extend(crew, links, question, each)))).filter(
      ({ outputs }) => outputs.at(-1) !== REFUSAL,
    );
    for (const { chain, outputs } of made) if (outputs.at(-1)?.trim() === answer) chains.add(chain.join());
  }
  return chains;
}

/** Runs the last step of a chain, which sees all earlier ones. */
async function extend(
  crew: Crew,
  links: readonly Link[],
  question: string,
  { before, chain }: { readonly before: Made; readonly chain: readonly number[] },
): Promise<Made> {
  const { steps } = toPlan(chain, links);
  const sees = before.outputs.map((output, step) => ({ step, subtask: steps[step]?.subtask ?? '', output }));
  const { worker = '', subtask = '' } = steps.at(-1) ?? {};
  return { chain, outputs: [...before.outputs, await crew.ask(worker, { question, subtask, sees })] };
}

function toPlan(chain: readonly number[], links: readonly Link[]): Plan {
  const steps = chain.map((link, step): Step => {
    const { worker = '', subtask = '' } = links[link] ?? {};
    return { worker, subtask, sees: Array.from({ length: step }, (_, earlier) => earlier) };
  });
  return { steps };
}

/** A chosen plan, and its accuracy on the questions that it was chosen on. */
export interface Chosen {
  readonly plan: Plan;
  readonly accuracy: number;
}

/** Returns the plan that answers most questions of some topics; of equal ones, a shortest. */
export function bestPlan({ links, solved }: Search, topics: readonly string[], longest = Infinity): Chosen {
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

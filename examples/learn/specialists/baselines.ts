import { join } from 'node:path';
import { z } from 'zod';
import type { Plan } from '../../../src/plan/plan';
import { readRecord, writeRecord } from '../../../src/store/records';
import { ArtifactFolder } from '../../../src/training/artifacts';
import { diceFor } from '../world/world';
import { drawPlan } from './conductor';
import type { Crew } from './crew';
import { abilitiesSchema, type Ability, measureAbilities } from './matrix';
import { compositionSets, COMPOSITIONS, type QuestionRow } from './questions';
import type { Recipe } from './recipe';
import { scoresSchema, scoreSets } from './scores';
import { bestPlan, searchPlans } from './search';
import { learnTable } from './table';

const measuredSchema = z.object({
  abilities: abilitiesSchema,
  scores: z.record(z.string(), scoresSchema),
});
/** What workers can do, and what can be had of them without a Conductor that reads. */
export type Measured = Readonly<z.infer<typeof measuredSchema>>;

/** File beside the workers. */
const MEASURED = 'baselines.json';

/** Figures that were measured before. */
export async function readMeasured(root: string): Promise<Measured> {
  const measured = await findMeasured(root);
  if (measured !== null) return measured;
  throw new RangeError(`${join(root, MEASURED)} is not there yet: have at least one seed learn (--seeds 1).`);
}

function findMeasured(root: string): Promise<Measured | null> {
  return readRecord(new ArtifactFolder(root), MEASURED, measuredSchema);
}

/** Measures once, and keeps the figures beside the workers. */
export async function measureOnce(root: string, crew: Crew, recipe: Recipe): Promise<Measured> {
  const earlier = await findMeasured(root);
  if (earlier !== null) return earlier;
  const abilities = await measureAbilities(crew);
  const measured = { abilities, scores: await measureBaselines(crew, abilities, recipe) };
  await writeRecord(new ArtifactFolder(root), MEASURED, measured);
  return measured;
}

/** The best plan of each composition, by search. */
export const ORACLE = 'best plan of each composition';
/** The one plan that is best for a whole set of compositions. */
export const CONSTANT = 'best constant plan of a set';

/** Chooses plans for questions of some topics. */
type Choose = (topics: readonly string[]) => (row: QuestionRow) => Plan;

/** Questions of each composition that plans are chosen on, none of which they are tried on. */
const CHOSEN_ON = 8;

async function measureBaselines(
  crew: Crew,
  abilities: readonly Ability[],
  recipe: Recipe,
): Promise<Measured['scores']> {
  const known = compositionSets('train', CHOSEN_ON, 'chosen on').flatMap(([, rows]) => rows);
  const search = await searchPlans(crew, abilities, known, COMPOSITIONS);
  const inTable = await learnTable(crew, recipe);
  const dice = diceFor('random plans');
  const drawn = (): Plan => drawPlan(crew.ids, recipe.phrases, dice);
  const bestOfEach = (longest?: number) => (topics: readonly string[]) => {
    const plans = new Map(topics.map((topic) => [topic, bestPlan(search, [topic], longest).plan]));
    return ({ topic }: QuestionRow) => plans.get(topic) ?? drawn();
  };
  const choices: Readonly<Record<string, Choose>> = {
    [ORACLE]: bestOfEach(),
    'best step of each composition': bestOfEach(1),
    [CONSTANT]: (topics) => {
      const { plan } = bestPlan(search, topics);
      return () => plan;
    },
    'table, told each composition': () => (row) => inTable(row) ?? drawn(),
    'random plans': () => drawn,
  };
  const scores: Measured['scores'] = {};
  for (const [name, choose] of Object.entries(choices)) {
    scores[name] = await scoreSets(recipe.triedOn, (rows) => {
      const planFor = choose([...new Set(rows.map(({ topic }) => topic))]);
      return Promise.all(rows.map((row) => crew.carryOut(planFor(row), row.question)));
    });
  }
  return {
    ...scores,
    'best worker alone': await scoreSets(recipe.triedOn, (rows) => askBestAlone(crew, rows)),
  };
}

/** Answers of the worker that answers most of these very questions, asked for the whole at once. */
async function askBestAlone(crew: Crew, rows: readonly QuestionRow[]): Promise<string[]> {
  const each = await Promise.all(
    crew.ids.map((id) => Promise.all(rows.map(({ question }) => crew.askWhole(id, question)))),
  );
  const rightIn = (answers: readonly string[]): number =>
    rows.filter((row, index) => answers[index]?.trim() === row.answer).length;
  const [best = []] = each.sort((one, other) => rightIn(other) - rightIn(one));
  return best;
}

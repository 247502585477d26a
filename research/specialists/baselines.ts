import { z } from 'zod';
import type { Plan } from '../../src/plan/plan';
import { readRecord, writeRecord } from '../../src/store/records';
import { ArtifactFolder } from '../../src/training/artifacts';
import { diceFor } from '../world/world';
import { drawPlan } from './conductor';
import type { Crew } from './crew';
import { abilitiesSchema, type Ability, measureAbilities } from './matrix';
import { compositionSets, COMPOSITIONS, type QuestionRow } from './questions';
import type { Recipe } from './recipe';
import { type Scores, scoresSchema, scoreSets } from './scores';
import { bestPlan, searchPlans } from './search';
import { learnTable } from './table';

const baselinesSchema = z.record(z.string(), scoresSchema);
/** Scores of plans that are made without a Conductor that reads questions, by the name of the method. */
export type Baselines = Readonly<z.infer<typeof baselinesSchema>>;

/** Files in the workers' folder. */
const ABILITIES = 'abilities.json';
const BASELINES = 'baselines.json';

/** Reads figures that were measured earlier. */
export async function readMeasured(root: string): Promise<{ abilities: Ability[]; baselines: Baselines }> {
  const files = new ArtifactFolder(root);
  const abilities = await readRecord(files, ABILITIES, abilitiesSchema);
  const baselines = await readRecord(files, BASELINES, baselinesSchema);
  if (abilities !== null && baselines !== null) return { abilities, baselines };
  throw new RangeError(
    `${ABILITIES} and ${BASELINES} are not both in ${root} yet: have at least one seed learn (--seeds 1).`,
  );
}

/** Measures once what the workers can do, and stores the figures beside them. */
export async function measureWorkers(root: string, crew: Crew): Promise<Ability[]> {
  return measureOnce(root, ABILITIES, abilitiesSchema, () => measureAbilities(crew));
}

/** Measures the baselines once, and stores the figures beside the workers. */
export async function measureBaselines(
  root: string,
  crew: Crew,
  recipe: Recipe,
  abilities: readonly Ability[],
): Promise<Baselines> {
  return measureOnce(root, BASELINES, baselinesSchema, () => tryBaselines(crew, abilities, recipe));
}

async function measureOnce<Measured extends object>(
  root: string,
  file: string,
  schema: z.ZodType<Measured>,
  measure: () => Promise<Measured>,
): Promise<Measured> {
  const files = new ArtifactFolder(root);
  const earlier = await readRecord(files, file, schema);
  if (earlier !== null) return earlier;
  const measured = await measure();
  await writeRecord(files, file, measured);
  return measured;
}

/** The best plan of each composition, by search. */
export const ORACLE = 'best plan of each composition';
/** The one plan that is best for a whole set of compositions. */
export const CONSTANT = 'best constant plan of a set';

/** Chooses plans for questions of some topics. */
type Choose = (topics: readonly string[]) => (row: QuestionRow) => Plan;

/** Questions per composition for choosing plans; none of them is used to score a plan. */
const CHOSEN_ON = 8;

async function tryBaselines(crew: Crew, abilities: readonly Ability[], recipe: Recipe): Promise<Baselines> {
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
  const scores: Record<string, Scores> = {};
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

/** Returns the answers of the worker that is right most often on these questions, each asked as a whole. */
async function askBestAlone(crew: Crew, rows: readonly QuestionRow[]): Promise<string[]> {
  const each = await Promise.all(
    crew.ids.map((id) => Promise.all(rows.map(({ question }) => crew.askWhole(id, question)))),
  );
  const rightIn = (answers: readonly string[]): number =>
    rows.filter((row, index) => answers[index]?.trim() === row.answer).length;
  const [best = []] = each.sort((one, other) => rightIn(other) - rightIn(one));
  return best;
}

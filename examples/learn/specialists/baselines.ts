import type { Plan } from '../../../src/plan/plan';
import { mean } from '../plain/scoring';
import { diceFor } from '../world/world';
import { drawPlan } from './conductor';
import type { Crew } from './crew';
import type { Ability } from './matrix';
import { compositionSets, COMPOSITIONS, type QuestionRow, type SetName } from './questions';
import { bestPlan, searchPlans } from './search';
import { TRIED_ON } from './seed';
import { ALL_PHRASES } from './skills';

/** 1 for each question of a set that was answered rightly, else 0. */
export type Scores = Readonly<Record<SetName, readonly number[]>>;

/** Questions of each composition that plans are chosen on, none of which they are tried on. */
const CHOSEN_ON = 8;

/** What somebody comes to who has tried all plans beforehand, and what needs no plans. */
export async function measureBaselines(
  crew: Crew,
  abilities: readonly Ability[],
): Promise<Readonly<Record<string, Scores>>> {
  const known = compositionSets('train', CHOSEN_ON, 'chosen on').flatMap(([, rows]) => rows);
  const search = await searchPlans(crew, abilities, known, COMPOSITIONS);
  const dice = diceFor('random plans');
  const ofEach = (longest?: number) => (topics: readonly string[]) => {
    const plans = new Map(topics.map((topic) => [topic, bestPlan(search, [topic], longest).plan]));
    return ({ topic }: QuestionRow) => plans.get(topic) ?? NO_PLAN;
  };
  const choices: Readonly<Record<string, Choose>> = {
    'best plan of each composition': ofEach(),
    'best step of each composition': ofEach(1),
    'best constant plan of a set': (topics) => {
      const { plan } = bestPlan(search, topics);
      return () => plan;
    },
    'random plans': () => () => drawPlan(crew.ids, ALL_PHRASES, dice),
  };
  const scores: Record<string, Scores> = {};
  for (const [name, choose] of Object.entries(choices)) {
    scores[name] = await scoreSets((rows) => {
      const planFor = choose([...new Set(rows.map(({ topic }) => topic))]);
      return rightOf(rows, (row) => crew.carryOut(planFor(row), row.question));
    });
  }
  return { ...scores, 'best worker alone': await scoreSets((rows) => bestAlone(crew, rows)) };
}

const NO_PLAN: Plan = { steps: [] };

/** Chooses plans for questions of some topics. */
type Choose = (topics: readonly string[]) => (row: QuestionRow) => Plan;

async function scoreSets(score: (rows: readonly QuestionRow[]) => Promise<number[]>): Promise<Scores> {
  const scored: [string, number[]][] = [];
  for (const [set, rows] of compositionSets('heldOut', TRIED_ON.count, TRIED_ON.name)) {
    scored.push([set, await score(rows)]);
  }
  return Object.fromEntries(scored) as unknown as Scores;
}

function rightOf(
  rows: readonly QuestionRow[],
  answer: (row: QuestionRow) => Promise<string>,
): Promise<number[]> {
  return Promise.all(rows.map(async (row) => ((await answer(row)).trim() === row.answer ? 1 : 0)));
}

/** The worker that answers most of these very questions, asked for the whole at once. */
async function bestAlone(crew: Crew, rows: readonly QuestionRow[]): Promise<number[]> {
  const each = crew.ids.map((id) => rightOf(rows, ({ question }) => crew.askWhole(id, question)));
  const [best = []] = (await Promise.all(each)).sort((one, other) => mean(other) - mean(one));
  return best;
}

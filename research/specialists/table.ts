import type { Plan, Step } from '../../src/plan/plan';
import { sortByTopic } from '../../src/training/draw';
import { type Dice, diceFor } from '../world/world';
import { drawPlan } from './conductor';
import type { Crew } from './crew';
import { type QuestionRow, questionsOf, trainingSet } from './questions';
import type { Recipe } from './recipe';
import { toSubtask } from './skills';

/** How often a plan was tried on questions of one composition, and how often it was right. */
interface Entry {
  readonly plan: Plan;
  tried: number;
  right: number;
}

type Table = Map<string, Map<string, Entry>>;

/** Share of plans that are drawn uniformly, and share of the others in which one step is redrawn. */
const EVEN = 1 / 7;
const CHANGED = 0.2;

/**
 * Learns without reading questions, since it is told what each one needs: keeps a table of right plans per
 * composition, and tries them and variations of them, on as many questions and plans as the Conductor. It knows
 * nothing about compositions that were never trained.
 */
export async function learnTable(crew: Crew, recipe: Recipe): Promise<(row: QuestionRow) => Plan | null> {
  const table: Table = new Map();
  const dice = diceFor('table');
  const source = sortByTopic(trainingSet(recipe.sets, 'table'));
  const { questions, groupSize, imitation, rewards } = recipe;
  for (let cycle = 1; cycle <= imitation.cycles + rewards.cycles; cycle += 1) {
    const rows = questionsOf(source, { seed: 0, cycle, questions });
    await Promise.all(
      rows.map(async (row) => {
        const known = entriesOf(table, row.topic);
        const plans = Array.from({ length: groupSize }, () => drawTried(crew, recipe, known, dice));
        const answers = await Promise.all(plans.map((plan) => crew.carryOut(plan, row.question)));
        for (const [index, plan] of plans.entries()) {
          note(known, plan, answers[index]?.trim() === row.answer);
        }
      }),
    );
  }
  return ({ topic }) => bestOf(entriesOf(table, topic));
}

function entriesOf(table: Table, topic: string): Map<string, Entry> {
  const known = table.get(topic) ?? new Map<string, Entry>();
  table.set(topic, known);
  return known;
}

function drawTried({ ids }: Crew, { phrases }: Recipe, known: Map<string, Entry>, dice: Dice): Plan {
  if (known.size === 0 || dice.happens(EVEN)) return drawPlan(ids, phrases, dice);
  const { plan } = dice.pick([...known.values()]);
  if (!dice.happens(CHANGED)) return plan;
  const changed = dice.pick([...plan.steps.keys()]);
  const redraw = (step: Step): Step =>
    dice.happens(0.5)
      ? { ...step, worker: dice.pick(ids) }
      : { ...step, subtask: toSubtask(dice.pick(phrases)) };
  return { steps: plan.steps.map((step, index) => (index === changed ? redraw(step) : step)) };
}

/** Counts a trial; a plan enters the table when it is right for the first time. */
function note(known: Map<string, Entry>, plan: Plan, isRight: boolean): void {
  const key = JSON.stringify(plan);
  const entry = known.get(key) ?? { plan, tried: 0, right: 0 };
  entry.tried += 1;
  entry.right += isRight ? 1 : 0;
  if (entry.right > 0) known.set(key, entry);
}

/** Adds two imaginary failures, so that a plan that was right once by luck does not become the best. */
function bestOf(known: ReadonlyMap<string, Entry>): Plan | null {
  const worth = ({ right, tried }: Entry): number => right / (tried + 2);
  const [best] = [...known.values()].sort((one, other) => worth(other) - worth(one));
  return best?.plan ?? null;
}

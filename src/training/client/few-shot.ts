import { type PlanExample, jsonBytes, MAX_EXAMPLES_BYTES } from '../../plan/plan';
import { PlanError } from '../../plan/plan-error';
import { reasoningOf } from '../../plan/parse';
import type { Question } from '../../grading/question';
import type { Store } from '../../store/store';
import { readText } from '../../store/texts';
import type { GroupRecord, Rollout } from '../records';

/** Largest example, in bytes of JSON: four of them fit into a prompt. */
const LONGEST = MAX_EXAMPLES_BYTES / 4;

/** Returns the first right plan of each question as an example, with the Conductor's reasoning before it. */
export async function examplesIn(
  store: Store,
  groups: readonly GroupRecord[],
  questions: readonly Question[],
): Promise<readonly PlanExample[]> {
  const asked = new Map(questions.map((question) => [question.id, question]));
  const found: PlanExample[] = [];
  for (const { question: id, workers, rollouts } of groups) {
    const right = rollouts.find(({ verdict, plan, reply }) => verdict === 'correct' && plan && reply);
    const question = asked.get(id);
    // A single turn of a conversation cannot be understood alone.
    if (right === undefined || question === undefined || question.conversation !== undefined) continue;
    const example = await exampleOf(store, right, { question: question.question, workers });
    if (example !== null && jsonBytes(example) <= LONGEST) found.push(example);
  }
  return found;
}

async function exampleOf(
  store: Store,
  { plan, reply }: Rollout,
  { question, workers }: { readonly question: string; readonly workers: readonly string[] },
): Promise<PlanExample | null> {
  try {
    const reasoning = reasoningOf(await readText(store, reply ?? ''));
    const steps = (plan?.steps ?? []).map((step) => ({ ...step, worker: `${workers.indexOf(step.worker)}` }));
    return { question, reasoning, plan: { steps } };
  } catch (error) {
    if (error instanceof PlanError) return null;
    throw error;
  }
}

/**
 * Chooses examples that differ in length and in workers, as the paper did (appendix E): each next one has a new length,
 * if any has, and among those the most new workers. The shortest plan comes first.
 */
export function chooseVaried(examples: readonly PlanExample[], count: number): readonly PlanExample[] {
  const left = [...examples];
  const chosen: PlanExample[] = [];
  while (chosen.length < count && left.length > 0) {
    const lengths = new Set(chosen.map(({ plan }) => plan.steps.length));
    const known = new Set(chosen.flatMap(workersOf));
    const gains = left.map((example) => {
      const fresh = new Set(workersOf(example).filter((worker) => !known.has(worker))).size;
      return (lengths.has(example.plan.steps.length) ? 0 : LONGEST) + fresh;
    });
    chosen.push(...left.splice(gains.indexOf(Math.max(...gains)), 1));
  }
  return byLength(chosen);
}

const workersOf = ({ plan }: PlanExample): string[] => plan.steps.map(({ worker }) => worker);

export function byLength(examples: readonly PlanExample[]): readonly PlanExample[] {
  return examples.toSorted((one, other) => one.plan.steps.length - other.plan.steps.length);
}

import { z } from 'zod';
import { UsageError } from '../../errors';
import { type AskedWhole, conversationSchema, type Question } from '../../grading/question';
import { parsePlan } from '../../plan/parse';
import type { Plan } from '../../plan/plan';
import { PlanError } from '../../plan/plan-error';
import { renderPlan } from '../../plan/render';
import type { RunWorker } from '../../protocol/cards';
import { planSchema } from '../../protocol/solve';
import type { Store } from '../../store/store';
import type { TrainingSettings } from '../config/resolve';
import { toTurns, wellFormed } from '../policy/chat';
import { bestRight } from '../imitation';
import { type TrainingExample, trainingExampleSchema, type GroupRecord } from '../records';
import { readSamples } from './batch';
import { planPrompts, type PromptSettings } from './sample-plans';

const words = z.string().min(1);
const plan: z.ZodType<Plan> = planSchema;

export const exampleRowSchema = z.union(
  [
    z.strictObject({
      question: words,
      conversation: conversationSchema.exactOptional(),
      /** The whole reply with its three lists, reasoning included, or the plan alone. */
      plan: z.union([words, plan]),
      /** Worker ids in the order of the prompt. Default: the whole pool. */
      workers: z.array(words).min(1).readonly().exactOptional(),
    }),
    trainingExampleSchema,
  ],
  { error: 'expected { "question", "plan" }, { "messages", "completion" } or { "prompt", "completion" }' },
);

export type ExampleRow = z.infer<typeof exampleRowSchema>;

export interface AskedHow {
  readonly store: Store;
  readonly workers: readonly RunWorker[];
  readonly settings: PromptSettings;
}

export function askedHow(store: Store, { run, policy }: TrainingSettings): AskedHow {
  return { store, workers: run.workers, settings: { ...policy, maxSteps: run.limits.steps } };
}

/** Writes an example as the policy will be asked. @throws PlanError or UsageError if the plan does not fit the pool */
export async function writeExample(
  row: ExampleRow,
  { store, workers, settings }: AskedHow,
): Promise<TrainingExample> {
  if ('completion' in row) return row;
  const pool = new Map(workers.map((worker) => [worker.id, worker]));
  const ids = row.workers ?? [...pool.keys()];
  const members = ids.map((id) => {
    const worker = pool.get(id);
    if (worker !== undefined) return worker;
    throw new UsageError(
      `worker ${JSON.stringify(id)} is not in the pool: it has ${[...pool.keys()].join(', ')}`,
    );
  });
  const reply = typeof row.plan === 'string' ? row.plan : renderPlan(row.plan, ids);
  const { maxSteps, access, subtasks } = settings;
  const plan = parsePlan(reply, { workers: ids, maxSteps, round: 0, access, subtasks });
  const [messages = []] = await planPrompts(store, { workers: members, plans: 1 }, settings, row);
  return {
    messages: toTurns(messages),
    completion: wellFormed(typeof row.plan === 'string' ? reply : renderPlan(plan, ids)),
  };
}

export async function tryExample(row: ExampleRow, asked: AskedHow): Promise<TrainingExample | null> {
  try {
    return await writeExample(row, asked);
  } catch (error) {
    if (error instanceof PlanError || error instanceof UsageError) return null;
    throw error;
  }
}

/**
 * Returns the best right plans of a group's first round as examples to imitate, each once: a review would be learned as
 * a first plan. `unfit` counts those that this configuration could not carry out.
 */
export async function rightPlansOf(
  group: GroupRecord,
  question: Question | undefined,
  asked: AskedHow,
): Promise<{ readonly examples: readonly TrainingExample[]; readonly unfit: number }> {
  const replies = await rightReplies(asked.store, group);
  if (question === undefined) return { examples: [], unfit: replies.length };
  const rows = replies.map((plan) => ({ ...wholeQuestionOf(question), plan, workers: group.workers }));
  const written = await Promise.all(rows.map((row) => tryExample(row, asked)));
  const fit = written.filter((example) => example !== null);
  const different = new Map(fit.map((example) => [example.completion, example]));
  return { examples: [...different.values()], unfit: written.length - fit.length };
}

function wholeQuestionOf({ question, conversation }: Question): AskedWhole {
  return { question, ...(conversation && { conversation }) };
}

async function rightReplies(store: Store, { round, samples, rollouts }: GroupRecord): Promise<string[]> {
  const kept = round === 0 && samples !== null ? await readSamples(store, samples) : null;
  return bestRight(rollouts).flatMap(({ index }) => kept?.rollouts[index]?.text ?? []);
}

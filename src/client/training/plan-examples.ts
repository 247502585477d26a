import { z } from 'zod';
import type { Example } from '../../activities/training/first-checkpoint';
import { planPrompts, type PromptSettings } from '../../activities/training/plan-prompts';
import { parsePlan } from '../../plan/parse';
import { planSchema } from '../../plan/plan';
import { renderPlan } from '../../plan/render';
import { renderChatml, withoutMarkers } from '../../policy/chatml';
import type { RunWorker } from '../../protocol/run';
import type { Store } from '../../store/store';

const words = z.string().min(1);

/** A row of a file of examples: a question and a plan for it or, as it is, what a model reads and writes. */
export const exampleRowSchema = z.union(
  [
    z.strictObject({
      question: words,
      /** The whole reply with its three lists, reasoning included, or the plan alone. */
      plan: z.union([words, planSchema]),
      /** Ids in the order of the prompt. Default: all of the pool. */
      workers: z.array(words).min(1).exactOptional(),
    }),
    z.strictObject({ prompt: words, completion: words }),
  ],
  { error: 'expected { "question", "plan" } or { "prompt", "completion" }' },
);
export type ExampleRow = z.infer<typeof exampleRowSchema>;

/** How the policy will be asked. */
export interface AskedHow {
  readonly store: Store;
  /** The pool, in the order of the configuration. */
  readonly workers: readonly RunWorker[];
  readonly settings: PromptSettings;
}

/**
 * An example in the very words in which the policy will be asked while it is trained, and served.
 *
 * @throws PlanError where the reply holds no plan that this pool could carry out
 * @throws UnknownWorkerError where the row names a worker that is not in the pool
 */
export async function writeExample(
  row: ExampleRow,
  { store, workers, settings }: AskedHow,
): Promise<Example> {
  if ('prompt' in row) return row;
  const members = row.workers === undefined ? workers : pick(workers, row.workers);
  const ids = members.map(({ id }) => id);
  const reply = typeof row.plan === 'string' ? row.plan : renderPlan(row.plan, ids);
  parsePlan(reply, { workers: ids, maxSteps: settings.maxSteps, round: 0 });
  const [messages = []] = await planPrompts(store, { workers: members, plans: 1 }, settings, row.question);
  return { prompt: renderChatml(messages), completion: withoutMarkers(reply) };
}

/** Thrown for an example that was written for another pool. */
export class UnknownWorkerError extends Error {
  override readonly name = 'UnknownWorkerError';

  constructor(worker: string, pool: readonly RunWorker[]) {
    super(
      `worker ${JSON.stringify(worker)} is not in the pool: it has ${pool.map(({ id }) => id).join(', ')}`,
    );
  }
}

function pick(pool: readonly RunWorker[], ids: readonly string[]): RunWorker[] {
  return ids.map((id) => {
    const worker = pool.find((member) => member.id === id);
    if (worker === undefined) throw new UnknownWorkerError(id, pool);
    return worker;
  });
}

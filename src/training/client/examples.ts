import { z } from 'zod';
import { parsePlan } from '../../plan/parse';
import { planSchema, type SolveTrace } from '../../protocol/solve';
import { PlanError } from '../../plan/plan-error';
import { renderPlan } from '../../plan/render';
import { ConductorError } from '../../errors';
import type { RunWorker } from '../../protocol/cards';
import { readSamples } from '../activities/batch';
import { type Example, exampleSchema } from '../activities/data';
import { planPrompts, type PromptSettings } from '../activities/sample-plans';
import { renderChatml, withoutMarkers } from '../policy/client';
import type { GroupRecord } from '../records';
import type { TrainingSettings } from '../config/resolve';
import { readCycleGroups, readMetrics, readTrainQuestions } from '../activities/records';
import type { Client } from '@temporalio/client';
import { readRunNow } from '../../client/trace-reader';
import { grade, type Verdict } from '../../grading/grade';
import { type AskedWhole, conversationSchema, type Question, wholeQuestion } from '../../grading/question';
import type { Plan } from '../../plan/plan';
import type { Store } from '../../store/store';
import { readText } from '../../store/texts';
import { ownRound } from '../../trace/run-tree';
import { normalizeQuestion } from '../../evaluation/data/question-index';

const words = z.string().min(1);
const plan: z.ZodType<Plan> = planSchema;

export const exampleRowSchema = z.union(
  [
    z.strictObject({
      question: words,
      conversation: conversationSchema.exactOptional(),
      /** The whole reply with its three lists, reasoning included, or the plan alone. */
      plan: z.union([words, plan]),
      /** Ids in the order of the prompt. Default: all of the pool. */
      workers: z.array(words).min(1).readonly().exactOptional(),
    }),
    exampleSchema,
  ],
  { error: 'expected { "question", "plan" } or { "prompt", "completion" }' },
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

/** An example as the policy will be asked. @throws PlanError or UnknownWorkerError for a plan beyond this pool */
export async function writeExample(
  row: ExampleRow,
  { store, workers, settings }: AskedHow,
): Promise<Example> {
  if ('prompt' in row) return row;
  const pool = new Map(workers.map((worker) => [worker.id, worker]));
  const ids = row.workers ?? [...pool.keys()];
  const members = ids.map((id) => {
    const worker = pool.get(id);
    if (worker === undefined) throw new UnknownWorkerError(id, [...pool.keys()]);
    return worker;
  });
  const reply = typeof row.plan === 'string' ? row.plan : renderPlan(row.plan, ids);
  const { maxSteps, access, subtasks } = settings;
  const plan = parsePlan(reply, { workers: ids, maxSteps, round: 0, access, subtasks });
  const [messages = []] = await planPrompts(store, { workers: members, plans: 1 }, settings, row);
  return {
    prompt: renderChatml(messages),
    completion: withoutMarkers(typeof row.plan === 'string' ? reply : renderPlan(plan, ids)),
  };
}

class UnknownWorkerError extends ConductorError {
  override readonly name = 'UnknownWorkerError';
  readonly code = 'UnknownWorker';

  constructor(worker: string, pool: readonly string[]) {
    super(`worker ${JSON.stringify(worker)} is not in the pool: it has ${pool.join(', ')}`);
  }
}

/**
 * The right plans of a training run's first rounds, each once: a correction would be learned as a first plan. `unfit` counts
 * those that this configuration could not carry out.
 */
export async function examplesOfRun(
  trainRun: string,
  asked: AskedHow,
): Promise<{ readonly examples: readonly Example[]; readonly unfit: number }> {
  const questions = await readTrainQuestions(asked.store, trainRun);
  const examples = new Map<string, Example>();
  let unfit = 0;
  for (const { cycle } of await readMetrics(asked.store, trainRun)) {
    for (const group of await readCycleGroups(asked.store, trainRun, cycle)) {
      const found = questions.get(group.question);
      for (const reply of await rightReplies(asked.store, group)) {
        const row = found && { ...askedOf(found), plan: reply, workers: group.workers };
        const example = row ? await tryExample(row, asked) : null;
        if (example === null) unfit += 1;
        else examples.set(JSON.stringify(example), example);
      }
    }
  }
  return { examples: [...examples.values()], unfit };
}

function askedOf({ question, conversation }: Question): AskedWhole {
  return { question, ...(conversation && { conversation }) };
}

async function rightReplies(store: Store, { round, samples, rollouts }: GroupRecord): Promise<string[]> {
  const kept = round === 0 && samples !== null ? await readSamples(store, samples) : null;
  const right = rollouts.filter(({ verdict }) => verdict === 'correct');
  return right.flatMap(({ index }) => kept?.rollouts[index]?.text ?? []);
}

export async function tryExample(row: ExampleRow, asked: AskedHow): Promise<Example | null> {
  try {
    return await writeExample(row, asked);
  } catch (error) {
    if (error instanceof PlanError || error instanceof UnknownWorkerError) return null;
    throw error;
  }
}

export interface GradedSolve {
  readonly question: string;
  readonly plan: Plan;
  readonly workers: readonly string[];
  readonly verdict: Verdict;
}

/** Grades a solve; null for one of another question, for a child, and for one without an answer or a plan of its own. */
export async function gradeSolve(
  { client, store, questions }: { client: Client; store: Store; questions: readonly Question[] },
  id: string,
): Promise<GradedSolve | null> {
  const { trace, origin } = await readRunNow(client, id);
  // A conversation is not told by its last turn.
  if (!origin || origin.input.parent !== undefined || origin.input.messages !== undefined) return null;
  const { plan, answer } = firstRound(trace);
  if (plan === null || answer === null) return null;
  const asked = normalizeQuestion(await readText(store, trace.question));
  const question = questions.find((each) => normalizeQuestion(wholeQuestion(each)) === asked);
  if (question === undefined) return null;
  const workers = origin.run.workers.map((worker) => worker.id);
  const { verdict } = await grade(question, await readText(store, answer));
  return { question: question.question, plan, workers, verdict };
}

/** No plan where the Conductor was asked for the first one and wrote none: another stood in. */
function firstRound(trace: SolveTrace): Pick<SolveTrace['rounds'][number], 'plan' | 'answer'> {
  const { plan = null, answer = null } = ownRound(trace, 0) ?? {};
  const last = trace.calls.findLast(({ step, round, childId }) => step === null && round === 0 && !childId);
  const isWritten = last === undefined || last.error === null;
  return { plan: isWritten ? plan : null, answer };
}

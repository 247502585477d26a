import { hash } from 'node:crypto';
import { type Client, WorkflowIdConflictPolicy } from '@temporalio/client';
import { type BudgetShare, SharedBudget } from '../../budget/shared-budget';
import type { Question } from '../../grading/question';
import type { Store } from '../../store/store';
import { questionSetKey } from '../../evaluation/definitions';
import { sumOfAll } from '../../statistics/statistics';
import { keepLines, readRecord } from '../../store/records';
import { readGroup } from '../activities/records';
import type { GroupInput } from '../inputs';
import type { GroupResult } from '../contract';
import { groupInput, type GroupOptions, lackedMoney } from '../draw';
import { groupKey } from '../store-keys';
import { GROUP_WORKFLOW, NIGHT_PRIORITY, trialWorkflowId } from '../names';
import { type GroupRecord, groupRecordSchema } from '../records';
import type { TrainingSettings } from '../config/resolve';

export interface PromptedRequest {
  readonly client: Client;
  readonly taskQueue: string;
  readonly store: Store;
  readonly settings: TrainingSettings;
  readonly questions: readonly Question[];
  readonly most: number;
  /** Budget for all groups, those of earlier calls included, in 10⁻⁹ USD; null: no limit. */
  readonly nanoUsd: number | null;
  readonly tell: (group: GroupRecord) => void;
  readonly signal: AbortSignal;
}

const AT_ONCE = 4;

/**
 * Has the prompted Conductor plan training questions, each as a group like a night's. Joins groups under way, and
 * reuses stored ones unless a provider or a limit invalidated them. Returns why not all were asked; null if all were.
 */
export async function planPromptedGroups(request: PromptedRequest): Promise<string | null> {
  const { store, questions, most, tell, signal } = request;
  const settings = writingAsPolicy(request.settings);
  const { key: set } = await keepLines(store, questions, questionSetKey);
  const asked = questions
    .map((question, index) => optionsOf(settings, { set, index }, question))
    .sort((one, other) => one.draw - other.draw)
    .slice(0, most);
  const rest: GroupOptions[] = [];
  let [over, spent, hasPlan] = [0, 0, false];
  let reason: string | null = null;
  const add = (group: GroupRecord): void => {
    over += 1;
    hasPlan ||= group.rollouts.some(({ plan }) => plan !== null);
    tell(group);
    if (!hasPlan && over >= AT_ONCE) reason ??= `the Conductor gave no plan for any of ${over} questions`;
  };
  for (const options of asked) {
    const group = await readKept(store, settings.trainRun, options);
    if (group === null) {
      rest.push(options);
      continue;
    }
    add(group);
    // A group of unknown cost may have used all that it was allowed.
    spent +=
      sumOfAll(group.rollouts.map(({ nanoUsd }) => nanoUsd)) ?? settings.run.limits.nanoUsd ?? Infinity;
  }
  const budget = new SharedBudget(request.nanoUsd, spent);
  const runShort = (): void => {
    reason ??= 'the money is used up; --max-cost raises it';
  };
  const ask = async (options: GroupOptions, share: BudgetShare): Promise<void> => {
    const input = groupInput(settings, options, { nanoUsd: share.nanoUsd, wallClockMs: Infinity });
    const result = await play(request, input);
    share.settle(result.spentNanoUsd);
    add(await readGroup(store, result.rounds[0]?.key ?? ''));
    if (lackedMoney(settings, input, result)) runShort();
  };
  const askInTurn = async (): Promise<void> => {
    while (rest.length > 0 && reason === null && !signal.aborted) {
      const share = budget.share(AT_ONCE, Math.max(1, budget.highestSpent));
      // Tasks under way take the remaining questions with the money that they give back.
      if (share === null && budget.underWay === 0) runShort();
      const next = share && rest.shift();
      if (!share || !next) return;
      await ask(next, share);
    }
  };
  const giveUp = (error: unknown): never => {
    rest.length = 0;
    throw error;
  };
  await Promise.all(Array.from({ length: AT_ONCE }, () => askInTurn().catch(giveUp)));
  return reason;
}

/** Restricts the Conductor to plans that the policy may write, since it could not imitate others. */
function writingAsPolicy({ run, ...settings }: TrainingSettings): TrainingSettings {
  const { access, subtasks } = settings.policy;
  return {
    ...settings,
    run: { ...run, conductor: { ...run.conductor, access, ...(!subtasks && { subtasks }) } },
  };
}

/** Names a question by what decides its answer; prices do not. */
function optionsOf(
  { run: { conductor, workers, limits }, groupSize }: TrainingSettings,
  question: GroupInput['question'],
  content: Question,
): GroupOptions {
  const asked = [conductor, workers, limits.steps, groupSize, content];
  const text = JSON.stringify(asked, (name, value: unknown) => (name === 'price' ? undefined : value));
  const draw = hash('sha256', text, 'buffer').readUIntBE(0, 6);
  return { purpose: 'examples', cycle: 0, draw, question, writer: 'prompted', workers };
}

async function readKept(store: Store, trainRun: string, options: GroupOptions): Promise<GroupRecord | null> {
  const key = groupKey({ ...options, trainRun, round: 0, checkpoint: '' });
  const group = await readRecord(store, key, groupRecordSchema);
  return group?.rollouts.some(({ invalidBecause }) => invalidBecause !== null) ? null : group;
}

function play({ client, taskQueue }: PromptedRequest, input: GroupInput): Promise<GroupResult> {
  return client.workflow.execute<(input: GroupInput) => Promise<GroupResult>>(GROUP_WORKFLOW, {
    workflowId: trialWorkflowId(input),
    taskQueue,
    args: [input],
    priority: { priorityKey: NIGHT_PRIORITY },
    staticSummary: `examples: question ${input.question.index + 1}, ${input.plans} plans`,
    workflowIdConflictPolicy: WorkflowIdConflictPolicy.USE_EXISTING,
  });
}

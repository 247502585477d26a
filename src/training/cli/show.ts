import { EXIT, type ExitCode, UsageError } from '../../cli/ending';
import { columnsOf, paintFor, print, toJson } from '../../cli/terminal';
import { previewOf } from '../../protocol/text';
import type { Store } from '../../store/store';
import { readText } from '../../store/texts';
import { counted, describeSees, joinFacts } from '../../trace/describe';
import { type Branch, drawTree, headLine, type Line, type Paint, PLAIN, plainLine } from '../../trace/lines';
import { readCycle, readCycleGroups } from '../activities/records';
import { groupWorkflowId } from '../names';
import type { CycleMetrics, GroupRecord, Rollout } from '../records';
import { groupBy, meanOf, tally } from '../../evaluation/statistics';
import { percent, plain } from '../../evaluation/report/page';
import { findTraining, SEE_LIST, type TrainOptions } from './session';

export async function showCycle(
  cycle: number,
  { json = false, ...options }: TrainOptions,
): Promise<ExitCode> {
  const { store, trainRun } = await findTraining(options);
  const metrics = await readCycle(store, trainRun, cycle);
  const groups = await readCycleGroups(store, trainRun, cycle);
  if (metrics === null && groups.length === 0) {
    throw new UsageError(
      `there is no cycle ${cycle} of training run ${trainRun} in the store ${store.url}: ${SEE_LIST}`,
    );
  }
  const shown = { trainRun, cycle, metrics, groups };
  if (json) await print(await renderJson(store, shown));
  else {
    const columns = columnsOf(process.stdout);
    await print(renderCycle(shown, { paint: paintFor(process.stdout), columns }), { painted: true });
  }
  return EXIT.answered;
}

interface ShownCycle {
  readonly trainRun: string;
  readonly cycle: number;
  /** null while it is under way. */
  readonly metrics: CycleMetrics | null;
  readonly groups: readonly GroupRecord[];
}

/** Everything, with long answers as they are. */
async function renderJson(store: Store, { groups, ...cycle }: ShownCycle): Promise<string> {
  const wholeRollout = async (rollout: Rollout): Promise<Rollout> => ({
    ...rollout,
    answer: rollout.answer && (await readText(store, rollout.answer)),
  });
  const wholeGroup = async (group: GroupRecord): Promise<GroupRecord> => ({
    ...group,
    rollouts: await Promise.all(group.rollouts.map(wholeRollout)),
  });
  return toJson({ ...cycle, groups: await Promise.all(groups.map(wholeGroup)) });
}

/** Answers and reasons shown of one plan; the JSON has all. */
const MOST_ANSWERS = 3;

/** A cycle for a terminal: each group with its plans, equal ones together, and their results. */
export function renderCycle(
  { trainRun, cycle, metrics, groups }: ShownCycle,
  { paint = PLAIN, columns = 160 }: { readonly paint?: Paint; readonly columns?: number } = {},
): string {
  const root: Branch = {
    line: headLine(paint, `${trainRun} cycle ${cycle}`, [
      metrics === null ? 'under way' : `night ${metrics.night}`,
    ]),
    notes: metrics === null ? [] : [plainLine(sumUp(metrics))],
    branches: groups.map((group) => groupBranch(group, paint)),
  };
  return drawTree(root, columns).join('\n');
}

function sumUp({ rewardMean, rewardSpread, formatRate, planLength, ...metrics }: CycleMetrics): string {
  const { workerTokens, usd, dropped, checkpoint } = metrics;
  return joinFacts(
    `checkpoint ${checkpoint}`,
    `reward ${plain(rewardMean)} ± ${plain(rewardSpread)}`,
    `${percent(formatRate)} plans`,
    `${plain(planLength)} ${planLength === 1 ? 'step' : 'steps'}`,
    `${plain(workerTokens)} tokens${usd === null ? '' : ` and $${plain(usd)}`} a rollout`,
    dropped > 0 && `${counted(dropped, 'group')} dropped`,
  );
}

function groupBranch(group: GroupRecord, paint: Paint): Branch {
  const { draw, round, question, workers, checkpoint, rollouts } = group;
  const facts = [
    question,
    round === 0 ? '' : `round ${round + 1}`,
    describeReward(rollouts),
    counted(rollouts.length, 'rollout'),
    `plans by ${checkpoint}`,
  ];
  return {
    line: headLine(paint, `Group ${draw}`, facts),
    notes: [
      plainLine(`workers, in the order of the prompt: ${workers.join(', ')}`),
      plainLine(`workflow ${groupWorkflowId(group)}`),
    ],
    branches: foldRollouts(rollouts).map((fold) => foldBranch(fold, paint)),
  };
}

function describeReward(rollouts: readonly Rollout[]): string {
  const rewards = rollouts.flatMap(({ reward }) => reward ?? []);
  const mean = meanOf(rewards);
  if (mean === null) return 'no rewards';
  const [least, most] = [Math.min(...rewards), Math.max(...rewards)];
  return least === most
    ? `every reward ${plain(mean)}`
    : `reward ${plain(mean)} (${plain(least)} to ${plain(most)})`;
}

function foldBranch(rollouts: readonly [Rollout, ...Rollout[]], paint: Paint): Branch {
  const reward = rewardOf(rollouts);
  const verdicts = Object.entries(tally(rollouts.map(({ verdict }) => verdict)));
  const faults = new Set(rollouts.flatMap(({ invalidBecause }) => invalidBecause ?? []));
  return {
    line: headLine(paint, `${rollouts.length} × ${reward === null ? 'no reward' : plain(reward)}`, [
      verdicts.map(([verdict, count]) => `${count} ${verdict}`).join(', '),
    ]),
    notes: [
      ...stepsOf(rollouts[0]),
      ...answersOf(rollouts),
      ...[...faults].slice(0, MOST_ANSWERS).map((reason) => plainLine(`invalid because ${reason}`)),
    ],
  };
}

function rewardOf(rollouts: readonly Rollout[]): number | null {
  return meanOf(rollouts.flatMap(({ reward }) => reward ?? []));
}

function stepsOf({ plan, problem }: Rollout): Line[] {
  if (plan === null) return [plainLine(`no plan: ${problem ?? ''}`)];
  if (plan.steps.length === 0) return [plainLine('accepts the first answer')];
  return plan.steps.map(({ worker, subtask, sees }, index) => {
    const who = [`${index + 1} ${worker}`, describeSees(sees)].filter((part) => part !== '').join(' ');
    return plainLine(`${who}: ${subtask}`);
  });
}

function answersOf(rollouts: readonly Rollout[]): Line[] {
  const answers = Object.entries(
    tally(rollouts.flatMap(({ answer }) => (answer === null ? [] : previewOf(answer)))),
  );
  const lines = answers
    .toSorted(([, one], [, other]) => other - one)
    .map(([answer, count]) => plainLine(`→ ${answer}${count === 1 ? '' : ` (${count} times)`}`));
  const more = lines.length - MOST_ANSWERS;
  const rest = more > 0 ? [plainLine(`→ ${counted(more, 'other answer')}`)] : [];
  return [...lines.slice(0, MOST_ANSWERS), ...rest];
}

/** Puts equal plans together, the best rewarded first: a trained policy writes the same plan many times. */
function foldRollouts(all: readonly Rollout[]): (readonly [Rollout, ...Rollout[]])[] {
  const folds = [...groupBy(all, ({ plan, problem }) => JSON.stringify([plan, problem])).values()];
  return folds
    .flatMap(([first, ...others]) => (first === undefined ? [] : [[first, ...others] as const]))
    .sort(
      (one, other) =>
        (rewardOf(other) ?? -Infinity) - (rewardOf(one) ?? -Infinity) || other.length - one.length,
    );
}

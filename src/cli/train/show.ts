import { EXIT, type ExitCode } from '../kit/ending';
import { UsageError } from '../../errors';
import { columnsOf, paintFor, print, toJson } from '../kit/terminal';
import { percent, plain } from '../../report/chart';
import { meanOf } from '../../statistics/statistics';
import { groupBy, tally } from '../../statistics/tally';
import { previewOf } from '../../protocol/text';
import type { Store } from '../../store/store';
import { readText } from '../../store/texts';
import { counted, describeSees, joinFacts } from '../../trace/describe';
import { type Branch, drawTree, headLine, type Line, type Paint, PLAIN, plainLine } from '../../trace/lines';
import { readCycle, readCycleGroups } from '../../training/client';
import type { CycleMetrics, GroupRecord, Rollout } from '../../training/definitions';
import { groupWorkflowId } from '../../training/names';
import { findTraining, SEE_LIST, type TrainOptions } from './session';

export async function showCycle(cycle: number, options: TrainOptions): Promise<ExitCode> {
  const { store, trainRun } = await findTraining(options);
  const metrics = await readCycle(store, trainRun, cycle);
  const groups = await readCycleGroups(store, trainRun, cycle);
  if (metrics === null && groups.length === 0) {
    throw new UsageError(
      `there is no cycle ${cycle} of training run ${trainRun} in the store ${store.url}: ${SEE_LIST}`,
    );
  }
  const shown = { trainRun, cycle, metrics, groups };
  if (options.json === true) await print(await renderJson(store, shown));
  else
    await print(renderCycle(shown, paintFor(process.stdout), columnsOf(process.stdout)), { painted: true });
  return EXIT.answered;
}

interface ShownCycle {
  readonly trainRun: string;
  readonly cycle: number;
  /** null while it is under way. */
  readonly metrics: CycleMetrics | null;
  readonly groups: readonly GroupRecord[];
}

/** Renders everything as JSON, with long answers in full. */
async function renderJson(store: Store, { groups, ...cycle }: ShownCycle): Promise<string> {
  const whole = groups.map(async (group) => {
    const rollouts = group.rollouts.map(async (rollout) => {
      return { ...rollout, answer: rollout.answer && (await readText(store, rollout.answer)) };
    });
    return { ...group, rollouts: await Promise.all(rollouts) };
  });
  return toJson({ ...cycle, groups: await Promise.all(whole) });
}

/** Renders a cycle for a terminal: each group with its results by plan. */
export function renderCycle(
  { trainRun, cycle, metrics, groups }: ShownCycle,
  paint: Paint = PLAIN,
  columns = 160,
): string {
  const when = metrics === null ? 'under way' : `night ${metrics.night}`;
  const root: Branch = {
    line: headLine(paint, `${trainRun} cycle ${cycle}`, [when]),
    notes: metrics === null ? [] : [plainLine(sumUp(metrics))],
    branches: groups.map((group) => groupBranch(group, paint)),
  };
  return drawTree(root, columns).join('\n');
}

function sumUp({ rewardMean, rewardSpread, formatRate, planLength, ...metrics }: CycleMetrics): string {
  const { workerTokens, usd, dropped, checkpoint, imitation } = metrics;
  return joinFacts(
    `checkpoint ${checkpoint}`,
    `reward ${plain(rewardMean)} ± ${plain(rewardSpread)}`,
    `${percent(formatRate)} plans`,
    `${plain(planLength)} ${planLength === 1 ? 'step' : 'steps'}`,
    `${plain(workerTokens)} tokens${usd === null ? '' : ` and $${plain(usd)}`} a rollout`,
    dropped > 0 && `${counted(dropped, 'group')} dropped`,
    imitation !== null && `imitated right plans, loss ${plain(imitation.loss)}`,
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
  // A trained policy writes the same plan many times.
  const folds = [...groupBy(rollouts, ({ plan, problem }) => JSON.stringify([plan, problem])).values()];
  const rank = (fold: readonly Rollout[]): number => rewardOf(fold) ?? -Infinity;
  folds.sort((one, other) => rank(other) - rank(one) || other.length - one.length);
  return {
    line: headLine(paint, `Group ${draw}`, facts),
    notes: [
      plainLine(`workers, in the order of the prompt: ${workers.join(', ')}`),
      plainLine(`workflow ${groupWorkflowId(group)}`),
    ],
    branches: folds.map((fold) => foldBranch(fold, paint)),
  };
}

function describeReward(rollouts: readonly Rollout[]): string {
  const mean = rewardOf(rollouts);
  if (mean === null) return 'no rewards';
  const rewards = rollouts.flatMap(({ reward }) => reward ?? []);
  const [least, most] = [Math.min(...rewards), Math.max(...rewards)];
  return least === most
    ? `every reward ${plain(mean)}`
    : `reward ${plain(mean)} (${plain(least)} to ${plain(most)})`;
}

/** Number of answers and reasons shown per plan; the JSON output has all. */
const MOST_ANSWERS = 3;

/** Renders the rollouts of one plan. */
function foldBranch(rollouts: readonly Rollout[], paint: Paint): Branch {
  const reward = rewardOf(rollouts);
  const verdicts = Object.entries(tally(rollouts.map(({ verdict }) => verdict)));
  const faults = new Set(rollouts.flatMap(({ invalidBecause }) => invalidBecause ?? []));
  return {
    line: headLine(paint, `${rollouts.length} × ${reward === null ? 'no reward' : plain(reward)}`, [
      verdicts.map(([verdict, count]) => `${count} ${verdict}`).join(', '),
    ]),
    notes: [
      ...rollouts.slice(0, 1).flatMap(linesOfSteps),
      ...answersOf(rollouts),
      ...[...faults].slice(0, MOST_ANSWERS).map((reason) => plainLine(`invalid because ${reason}`)),
    ],
  };
}

function rewardOf(rollouts: readonly Rollout[]): number | null {
  return meanOf(rollouts.flatMap(({ reward }) => reward ?? []));
}

function linesOfSteps({ plan, problem }: Rollout): Line[] {
  if (plan === null) return [plainLine(`no plan: ${problem ?? ''}`)];
  if (plan.steps.length === 0) return [plainLine('accepts the first answer')];
  return plan.steps.map(({ worker, subtask, sees }, index) => {
    const who = [`${index + 1} ${worker}`, describeSees(sees)].filter((part) => part !== '').join(' ');
    return plainLine(`${who}: ${subtask}`);
  });
}

function answersOf(rollouts: readonly Rollout[]): Line[] {
  const answers = rollouts.flatMap(({ answer }) => (answer === null ? [] : previewOf(answer)));
  const lines = Object.entries(tally(answers))
    .toSorted(([, one], [, other]) => other - one)
    .map(([answer, count]) => `→ ${answer}${count === 1 ? '' : ` (${count} times)`}`);
  const more = lines.splice(MOST_ANSWERS).length;
  return [...lines, ...(more > 0 ? [`→ ${counted(more, 'other answer')}`] : [])].map(plainLine);
}

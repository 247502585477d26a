import { previewOf, type Text } from '../../../protocol/text';
import { drawTree, type Branch } from '../../../trace/draw-tree';
import { headLine, plainLine, type Line } from '../../../trace/line';
import { counted } from '../../../trace/counted';
import { PLAIN, type Paint } from '../../../trace/paint';
import { describeSees } from '../../../trace/step-state';
import { groupWorkflowId } from '../../../training/night-ids';
import type { CycleMetrics } from '../../../training/progress';
import type { GroupRecord, Rollout } from '../../../training/rollout';
import { plain, percent } from '../plot/format-value';
import { foldRollouts, meanReward, type Fold, type Tally } from './fold-rollouts';
import { describePlaces } from './describe-places';

/** A cycle as it lies in the store. */
export interface ShownCycle {
  readonly trainRun: string;
  readonly cycle: number;
  /** null while it is under way. */
  readonly metrics: CycleMetrics | null;
  readonly groups: readonly GroupRecord[];
}

/** Answers and reasons shown of one plan; all are in the JSON. */
const MOST_ANSWERS = 3;

/** The story of a cycle for a terminal: each group with its plans, equal ones put together, and what came of them. */
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

function sumUp(metrics: CycleMetrics): string {
  const { rewardMean, rewardSpread, formatRate, planLength, workerTokens, usd, dropped, checkpoint } =
    metrics;
  return [
    `checkpoint ${checkpoint}`,
    `reward ${plain(rewardMean)} ± ${plain(rewardSpread)}`,
    `${percent(formatRate)} plans`,
    `${plain(planLength)} steps`,
    `${plain(workerTokens)} tokens${usd === null ? '' : ` and $${plain(usd)}`} a rollout`,
    ...(dropped === 0 ? [] : [`${counted(dropped, 'group')} dropped`]),
  ].join(' · ');
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
  const mean = meanReward(rollouts);
  if (mean === null) return 'no rewards';
  const rewards = rollouts.flatMap(({ reward }) => reward ?? []);
  const [least, most] = [Math.min(...rewards), Math.max(...rewards)];
  return least === most
    ? `every reward ${plain(mean)}`
    : `reward ${plain(mean)} (${plain(least)} to ${plain(most)})`;
}

function foldBranch(fold: Fold, paint: Paint): Branch {
  const { reward, rollouts, verdicts, answers } = fold;
  const facts = [
    verdicts.map(({ item, count }) => `${count} ${item}`).join(', '),
    `rollouts ${describePlaces(rollouts.map(({ index }) => index))}`,
  ];
  const spoilt = [...new Set(rollouts.flatMap(({ spoiltBy }) => spoiltBy ?? []))].slice(0, MOST_ANSWERS);
  return {
    line: headLine(paint, `${rollouts.length} × ${reward === null ? 'no reward' : plain(reward)}`, facts),
    notes: [
      ...stepsOf(fold),
      ...answersOf(answers),
      ...spoilt.map((reason) => plainLine(`spoilt by ${reason}`)),
    ],
  };
}

function stepsOf({ plan, problem }: Fold): Line[] {
  if (plan === null) return [plainLine(`no plan: ${problem ?? ''}`)];
  if (plan.steps.length === 0) return [plainLine('accepts the answer at hand')];
  return plan.steps.map(({ worker, subtask, sees }, index) => {
    const who = [`${index + 1} ${worker}`, describeSees(sees)].filter((part) => part !== '').join(' ');
    return plainLine(`${who}: ${subtask}`);
  });
}

function answersOf(answers: Fold['answers']): Line[] {
  const shown = answers.slice(0, MOST_ANSWERS).map(({ item, count }: Tally<Text>) => {
    const times = count === 1 ? '' : ` (${count} times)`;
    return plainLine(`→ ${previewOf(item)}${times}`);
  });
  const more = answers.length - MOST_ANSWERS;
  return more > 0 ? [...shown, plainLine(`→ ${counted(more, 'other answer')}`)] : shown;
}

import { EXIT, type ExitCode, UsageError } from '../../cli/exit-code';
import { columnsOf, paintFor, print, toJson } from '../../cli/terminal';
import { previewOf } from '../../protocol/text';
import type { Store } from '../../store/store';
import { readText } from '../../store/texts';
import { counted, describeSees } from '../../trace/describe';
import { type Branch, drawTree, headLine, type Line, type Paint, PLAIN, plainLine } from '../../trace/lines';
import { readCycle, readGroups } from '../client/read-runs';
import { groupWorkflowId } from '../ids';
import type { CycleMetrics, GroupRecord, Rollout } from '../records';
import { meanOf } from '../../evaluation/statistics';
import { percent, plain } from '../../evaluation/report/formats';
import { findTraining, SEE_LIST, type TrainOptions } from './session';

export async function showCycle(
  cycle: number,
  { json = false, ...options }: TrainOptions,
): Promise<ExitCode> {
  const { store, trainRun } = await findTraining(options);
  const metrics = await readCycle(store, trainRun, cycle);
  const groups = await readGroups(store, trainRun, cycle);
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
  const whole: GroupRecord[] = [];
  for (const group of groups) {
    const rollouts = await Promise.all(
      group.rollouts.map(async ({ answer, ...rollout }) => ({
        ...rollout,
        answer: answer === null ? null : await readText(store, answer),
      })),
    );
    whole.push({ ...group, rollouts });
  }
  return toJson({ ...cycle, groups: whole });
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

function sumUp(metrics: CycleMetrics): string {
  const { rewardMean, rewardSpread, formatRate, planLength, workerTokens, usd, dropped, checkpoint } =
    metrics;
  return [
    `checkpoint ${checkpoint}`,
    `reward ${plain(rewardMean)} ± ${plain(rewardSpread)}`,
    `${percent(formatRate)} plans`,
    `${plain(planLength)} ${planLength === 1 ? 'step' : 'steps'}`,
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
  const rewards = rollouts.flatMap(({ reward }) => reward ?? []);
  const mean = meanOf(rewards);
  if (mean === null) return 'no rewards';
  const [least, most] = [Math.min(...rewards), Math.max(...rewards)];
  return least === most
    ? `every reward ${plain(mean)}`
    : `reward ${plain(mean)} (${plain(least)} to ${plain(most)})`;
}

function foldBranch({ reward, first, rollouts }: Fold, paint: Paint): Branch {
  const facts = [
    tally(rollouts.map(({ verdict }) => verdict))
      .map(({ item, count }) => `${count} ${item}`)
      .join(', '),
    `rollouts ${describePlaces(rollouts.map(({ index }) => index))}`,
  ];
  const faults = new Set(rollouts.flatMap(({ invalidBecause }) => invalidBecause ?? []));
  return {
    line: headLine(paint, `${rollouts.length} × ${reward === null ? 'no reward' : plain(reward)}`, facts),
    notes: [
      ...stepsOf(first),
      ...answersOf(rollouts),
      ...[...faults].slice(0, MOST_ANSWERS).map((reason) => plainLine(`invalid because ${reason}`)),
    ],
  };
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
  const answers = tally(rollouts.flatMap(({ answer }) => answer ?? []));
  const shown = answers.slice(0, MOST_ANSWERS).map(({ item, count }) => {
    const times = count === 1 ? '' : ` (${count} times)`;
    return plainLine(`→ ${previewOf(item)}${times}`);
  });
  const more = answers.length - MOST_ANSWERS;
  return more > 0 ? [...shown, plainLine(`→ ${counted(more, 'other answer')}`)] : shown;
}

/** Rollouts of one group with the same plan, or without one for the same reason. */
interface Fold {
  readonly first: Rollout;
  readonly rollouts: readonly Rollout[];
  readonly reward: number | null;
}

/** Puts equal plans together, the best rewarded first: a trained policy writes the same plan many times. */
function foldRollouts(all: readonly Rollout[]): Fold[] {
  const same = new Map<string, Rollout[]>();
  for (const rollout of all) {
    const key = JSON.stringify([rollout.plan, rollout.problem]);
    same.set(key, [...(same.get(key) ?? []), rollout]);
  }
  return [...same.values()]
    .flatMap((rollouts) => {
      const [first] = rollouts;
      const reward = meanOf(rollouts.flatMap((rollout) => rollout.reward ?? []));
      return first === undefined ? [] : { first, rollouts, reward };
    })
    .sort(
      (a, b) => (b.reward ?? -Infinity) - (a.reward ?? -Infinity) || b.rollouts.length - a.rollouts.length,
    );
}

function tally<Item>(items: readonly Item[]): { item: Item; count: number }[] {
  const counts = new Map<string, { item: Item; count: number }>();
  for (const item of items) {
    const key = JSON.stringify(item);
    counts.set(key, { item, count: (counts.get(key)?.count ?? 0) + 1 });
  }
  return [...counts.values()].sort((a, b) => b.count - a.count);
}

/** Ascending numbers as people write them: `0, 2–5, 9`. */
export function describePlaces(places: readonly number[]): string {
  const spans: [number, number][] = [];
  for (const place of places) {
    const last = spans.at(-1);
    if (last?.[1] === place - 1) last[1] = place;
    else spans.push([place, place]);
  }
  return spans.map(([first, last]) => (first === last ? String(first) : `${first}–${last}`)).join(', ');
}

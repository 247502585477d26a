import { EXIT, type ExitCode, UsageError } from '../../../cli/exit-code';
import { print } from '../../../cli/terminal';
import { type CurvesPage, curvesChart } from '../../../evaluation/report/curves-chart';
import { drawCharts } from '../../../evaluation/report/draw';
import { type Table, writeReport } from '../../../evaluation/report/report';
import { readMetrics } from '../../client/read-runs';
import type { CycleMetrics } from '../../progress';
import { findTraining, SEE_LIST, type TrainOptions } from '../session';
import { effortCurves, learningCurves } from './pictures';

export async function plotRun({
  out,
  ...options
}: TrainOptions & { readonly out: string }): Promise<ExitCode> {
  const { store, trainRun } = await findTraining(options);
  const cycles = await readMetrics(store, trainRun);
  if (cycles.length === 0) {
    throw new UsageError(
      `training run ${trainRun} has no cycle in the store ${store.url} that is over: ${SEE_LIST}`,
    );
  }
  const pages = [learningCurves(cycles), effortCurves(cycles)];
  const report = {
    title: `Training run ${trainRun}`,
    parts: [
      ...findingsOf(cycles, pages),
      tableOf(pages),
      ...(await drawCharts(pages.map((page) => curvesChart(page)))),
    ],
  };
  for (const file of await writeReport(report, out)) await print(file);
  return EXIT.answered;
}

function findingsOf(cycles: readonly CycleMetrics[], [learning]: readonly CurvesPage[]): string[] {
  const [last, best] = [cycles.at(-1), Math.max(...cycles.map(({ heldOut }) => heldOut ?? -Infinity))];
  const reward = `The mean reward went from ${cycles[0]?.rewardMean.toFixed(3)} to ${last?.rewardMean.toFixed(3)}`;
  return [
    `${learning?.subtitle}.`,
    best === -Infinity ? `${reward}.` : `${reward}; the best on held-out questions is ${best.toFixed(3)}.`,
    ...(last?.collapse ? [`The policy may have collapsed: ${last.collapse}.`] : []),
  ];
}

/** All curves in numbers, for those who do not see the pictures. */
function tableOf(pages: readonly CurvesPage[]): Table {
  const rows = pages.flatMap(({ panels }) =>
    panels.flatMap(({ title, curves, format }) =>
      curves.flatMap(({ name, values }) => {
        const known = values.filter((value) => value !== null);
        const [first, last] = [known[0], known.at(-1)];
        if (first === undefined || last === undefined) return [];
        return [[`${title}: ${name}`, ...[first, last, Math.min(...known), Math.max(...known)].map(format)]];
      }),
    ),
  );
  return { rows: [['figure', 'first', 'last', 'lowest', 'highest'], ...rows], numeric: true };
}

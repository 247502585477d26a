import { EXIT, type ExitCode } from '../kit/ending';
import { UsageError } from '../../errors';
import { print } from '../kit/terminal';
import { curvesChart } from '../../report/curves-chart';
import { drawCharts } from '../../report/chart';
import { writeReport } from '../../report/report';
import { counted } from '../../trace/describe';
import { effortCurves, learningCurves, readMetrics, tableOf } from '../../training/client';
import type { CycleMetrics } from '../../training/definitions';
import { findTraining, SEE_LIST, type TrainOptions } from './session';

type Cycles = readonly CycleMetrics[];

/** `train plot`: figures and charts of all cycles of a training run. */
export async function plotRun({ out, ...options }: TrainOptions & { out: string }): Promise<ExitCode> {
  const { store, trainRun } = await findTraining(options);
  const cycles = await readMetrics(store, trainRun);
  if (cycles.length === 0) {
    throw new UsageError(
      `training run ${trainRun} has no cycle in the store ${store.url} that is over: ${SEE_LIST}`,
    );
  }
  const pages = [learningCurves(cycles), effortCurves(cycles)];
  const charts = await drawCharts(pages.map((page) => curvesChart(page)));
  const parts = [...findingsOf(cycles), ...charts, tableOf(pages)];
  for (const file of await writeReport({ title: `Training run ${trainRun}`, parts }, out)) await print(file);
  return EXIT.answered;
}

function findingsOf(cycles: Cycles): string[] {
  const [first, last] = [cycles[0], cycles.at(-1)];
  const best = Math.max(...cycles.map(({ heldOut }) => heldOut ?? -Infinity));
  const reward = `The mean reward went from ${first?.rewardMean.toFixed(3)} to ${last?.rewardMean.toFixed(3)}`;
  return [
    `${counted(cycles.length, 'cycle')}, from the night ${first?.night} to the night ${last?.night}.`,
    best === -Infinity ? `${reward}.` : `${reward}; the best on held-out questions is ${best.toFixed(3)}.`,
    ...(last?.collapse ? [`The policy may have collapsed: ${last.collapse}.`] : []),
  ];
}

import { type Drawing, HUES } from '../../cli/draw';
import type { MethodSummary, Summary } from '../summarize';
import { AXIS, boundsOf, HEAD, intervals, page } from './picture-page';
import { scoreAgainstCost } from './score-cost';
import { topologyShares, workerShares } from './shares';

/** The pictures of an evaluation: those for which there is something to be seen. */
export function picturesOf(summary: Summary): Drawing[] {
  const scored = summary.methods.filter(({ score }) => score !== null);
  const byDepth = scored.filter(({ method }) => /^conductor(?::\d)?$/.test(method));
  const planned = scored.filter(({ topologies }) => Object.keys(topologies).length > 0);
  return [
    ...(scored.length > 0 ? [scoreAgainstCost(summary, scored)] : []),
    ...(scored.length > 0 ? [workerShares(summary, scored)] : []),
    ...(planned.length > 0 ? [topologyShares(summary, planned)] : []),
    ...(byDepth.length > 1 ? [scoreByDepth(summary, byDepth)] : []),
  ];
}

function scoreByDepth(summary: Summary, methods: readonly MethodSummary[]): Drawing {
  const depths = methods
    .map((method) => ({ ...method, depth: Number(method.method.split(':')[1] ?? 0) }))
    .sort((one, other) => one.depth - other.depth);
  return {
    file: 'score-depth',
    height: 360,
    option: {
      ...page(summary, 'Score by depth', 'how deep the Conductor may call itself; 95 % intervals'),
      grid: { left: 64, right: 64, top: HEAD + 16, bottom: 48 },
      xAxis: {
        type: 'category',
        name: 'depth',
        nameLocation: 'middle',
        nameGap: 28,
        data: depths.map(({ depth }) => String(depth)),
        ...AXIS,
      },
      yAxis: { type: 'value', name: 'score', min: 0, max: 1, ...AXIS },
      series: [
        intervals(depths.map((method, index) => [index, ...boundsOf(method), 0, 0])),
        {
          type: 'line',
          color: HUES[0],
          symbol: 'circle',
          symbolSize: 9,
          data: depths.map(({ score }) => score),
        },
      ],
    },
  };
}

import type * as ECharts from 'echarts' with { 'resolution-mode': 'import' };
import { chartOption, labelHeights, pageHeight, PAGE, plotBox } from './chart-option';
import { INK } from './palette';
import type { Panel, Picture } from './panel';
import { spreadLabels } from './spread-labels';

const LABEL = { gap: 15, distance: 10, mark: 7 } as const;
const NOTHING = 'nothing measured yet';

/**
 * Draws a picture as SVG.
 *
 * @throws Error that says how to install ECharts, where it is not there
 */
export async function drawSvg(picture: Picture): Promise<string> {
  const echarts = await importECharts();
  const chart = echarts.init(null, null, {
    renderer: 'svg',
    ssr: true,
    width: PAGE.width,
    height: pageHeight(picture),
  });
  try {
    chart.setOption(chartOption(picture));
    // Only now are the axes known, and with them where a curve ends.
    chart.setOption({ graphic: picture.panels.flatMap((panel, index) => labelsOf(panel, index, chart)) });
    return chart.renderToSVGString();
  } finally {
    chart.dispose();
  }
}

/** Names each curve where it ends, with its last value. */
function labelsOf(panel: Panel, index: number, chart: ECharts.ECharts): object[] {
  const box = plotBox(index);
  const labels = labelHeights(panel);
  if (labels.length === 0) {
    return [
      textAt(box.left + box.width / 2, box.top + box.height / 2, NOTHING, {
        align: 'center',
        fill: INK.faint,
      }),
    ];
  }
  const wanted = labels.map(({ height }) => chart.convertToPixel({ yAxisIndex: index }, height));
  const places = spreadLabels(wanted, { gap: LABEL.gap, top: box.top, bottom: box.top + box.height });
  const left = box.left + box.width + LABEL.distance;
  return labels.flatMap(({ curve, value }, rank) => {
    const middle = places[rank] ?? box.top;
    const words = `${shortened(curve.name)} ${panel.format(value)}`;
    return [
      {
        type: 'rect',
        shape: { x: left, y: middle - LABEL.mark / 2, width: LABEL.mark, height: LABEL.mark, r: 2 },
        style: { fill: curve.colour },
      },
      textAt(left + LABEL.mark + 5, middle, words, { align: 'left', fill: INK.text }),
    ];
  });
}

function textAt(
  x: number,
  y: number,
  text: string,
  { align, fill }: { readonly align: 'left' | 'center'; readonly fill: string },
): object {
  return {
    type: 'text',
    style: { x, y, text, align, verticalAlign: 'middle', fill, fontSize: 11, fontFamily: INK.fonts },
  };
}

const LONGEST_NAME = 14;

function shortened(name: string): string {
  return name.length <= LONGEST_NAME ? name : `${name.slice(0, LONGEST_NAME - 1)}…`;
}

/** Loaded when it is first needed: it is an optional peer dependency. */
async function importECharts(): Promise<typeof ECharts> {
  try {
    return await import('echarts');
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(
      `pictures are drawn by the package echarts, which cannot be loaded; install it with "npm install echarts@6" (${reason})`,
      { cause: error },
    );
  }
}

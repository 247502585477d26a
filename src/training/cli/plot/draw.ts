import type * as Resvg from '@resvg/resvg-js';
import type * as ECharts from 'echarts' with { 'resolution-mode': 'import' };
import { chartOption, labelHeights, PAGE, pageHeight, plotBox } from './chart';
import { INK, type Panel, type Picture } from './panel';

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

/** Twice the page, for screens with fine pixels. */
const SCALE = 2;

/**
 * Turns a picture into PNG, with the fonts of this machine.
 *
 * @throws Error that says how to install resvg, where it is not there
 */
export async function drawPng(svg: string): Promise<Buffer> {
  const { Resvg: Renderer } = await importResvg();
  const image = new Renderer(svg, { fitTo: { mode: 'width', value: PAGE.width * SCALE } });
  return image.render().asPng();
}

/** Loaded when it is first needed: it is an optional peer dependency. */
async function importResvg(): Promise<typeof Resvg> {
  try {
    return await import('@resvg/resvg-js');
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(
      `PNG is made by the package @resvg/resvg-js, which cannot be loaded; install it with "npm install @resvg/resvg-js@2" (${reason})`,
      { cause: error },
    );
  }
}

/**
 * Places for labels of one column that would lie over each other: as near as can be to where each wants to be, in the
 * same order, at least `gap` apart and within the bounds as long as there is room.
 *
 * @param wanted heights in pixels, in any order
 * @returns a height for each, in the order of `wanted`
 */
export function spreadLabels(
  wanted: readonly number[],
  { gap, top, bottom }: { readonly gap: number; readonly top: number; readonly bottom: number },
): number[] {
  const places: number[] = [];
  for (const { members, centre } of settle(clustersOf(wanted), { gap, top, bottom })) {
    members.forEach((member, rank) => {
      places[member] = centre + (rank - (members.length - 1) / 2) * gap;
    });
  }
  return places;
}

/** Labels that touch, from the topmost down, and the middle of them all. */
interface Cluster {
  readonly members: readonly number[];
  readonly centre: number;
}

function clustersOf(wanted: readonly number[]): Cluster[] {
  return wanted.map((centre, member) => ({ members: [member], centre })).sort((a, b) => a.centre - b.centre);
}

/** Puts clusters that overlap together, around the mean of what their members wanted, until none does. */
function settle(
  clusters: readonly Cluster[],
  room: { readonly gap: number; readonly top: number; readonly bottom: number },
): Cluster[] {
  const settled: Cluster[] = [];
  for (const cluster of clusters) {
    let next = within(cluster, room);
    for (let above = settled.at(-1); above !== undefined; above = settled.at(-1)) {
      const reach = ((above.members.length + next.members.length) / 2) * room.gap;
      if (next.centre - above.centre >= reach) break;
      settled.pop();
      next = within(join(above, next), room);
    }
    settled.push(next);
  }
  return settled;
}

function join(above: Cluster, below: Cluster): Cluster {
  const members = [...above.members, ...below.members];
  const centre = (above.centre * above.members.length + below.centre * below.members.length) / members.length;
  return { members, centre };
}

function within(
  { members, centre }: Cluster,
  { gap, top, bottom }: { readonly gap: number; readonly top: number; readonly bottom: number },
): Cluster {
  const half = ((members.length - 1) * gap) / 2;
  return { members, centre: Math.max(top + half, Math.min(centre, bottom - half)) };
}

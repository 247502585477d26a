import type { CustomSeriesOption, CustomSeriesRenderItem, EChartsOption } from 'echarts' with {
  'resolution-mode': 'import',
};
import { FAINT, FONTS, GREY, headline, HUES, PAPER, TEXT } from '../../cli/draw';
import type { MethodSummary, Summary } from '../summarize';

// What the pictures of an evaluation have in common.

export const EDGE = 16;
export const HEAD = 64;

/** Its title, with what was evaluated below. */
export function page(summary: Summary, title: string, note: string): EChartsOption {
  const subtitle = `${note} · ${summary.file}, ${summary.complete} questions · evaluation ${summary.id}`;
  return {
    animation: false,
    backgroundColor: PAPER,
    textStyle: { fontFamily: FONTS, color: TEXT },
    title: [headline(title, subtitle, 16, { left: EDGE, top: EDGE })],
  };
}

export const AXIS = {
  axisLabel: { color: FAINT, fontSize: 11 },
  nameTextStyle: { color: FAINT, fontSize: 11 },
} as const;

type IntervalBar = readonly [x: number, low: number, high: number, colour: number, shift: number];

/** Vertical bars with caps. */
export function intervals(bars: readonly IntervalBar[]): CustomSeriesOption {
  const renderItem: CustomSeriesRenderItem = (_, api) => {
    const [left = 0, bottom = 0] = api.coord([api.value(0), api.value(1)]);
    const x = left + Number(api.value(4));
    const [, top = 0] = api.coord([api.value(0), api.value(2)]);
    const style = { stroke: colourOf(Number(api.value(3))), lineWidth: 1.25, fill: 'none' };
    const line = (x1: number, y1: number, x2: number, y2: number) =>
      ({ type: 'line', shape: { x1, y1, x2, y2 }, style }) as const;
    return {
      type: 'group',
      children: [line(x, bottom, x, top), line(x - 4, bottom, x + 4, bottom), line(x - 4, top, x + 4, top)],
    };
  };
  return { type: 'custom', renderItem, data: bars.map((bar) => [...bar]), z: 1 };
}

/** Both ends of a method's interval. */
export function boundsOf({ interval, score }: MethodSummary): readonly [number, number] {
  const [low, high] = interval ?? [score ?? 0, score ?? 0];
  return [low, high];
}

/** Of a method, or a worker, by its place. */
export function colourOf(index: number): string {
  return HUES[index % HUES.length] ?? GREY;
}

import { createElement, type ReactElement, useMemo, useRef } from 'react';
import { BarChart, LineChart, ScatterChart } from 'echarts/charts';
import {
  GridSimpleComponent,
  LegendPlainComponent,
  MarkLineComponent,
  TitleComponent,
} from 'echarts/components';
import { init, use as take } from 'echarts/core';
import { LabelLayout } from 'echarts/features';
import { SVGRenderer } from 'echarts/renderers';
import { type Chart, FAINT, HUES, PAPER, type Sheet, TEXT } from '../../../src/report/chart';
import { useWidth } from './use-width';
import '../style/board.css';

take([
  BarChart,
  LineChart,
  ScatterChart,
  GridSimpleComponent,
  LegendPlainComponent,
  MarkLineComponent,
  TitleComponent,
]);
take([LabelLayout, SVGRenderer]);

interface PictureProps {
  /** Returns the chart for a sheet; a new function redraws it. */
  readonly draw: (sheet: Sheet) => Chart;
}

/** Chart of a report in the available width. Its figures must also be given as text, for people who cannot see it. */
export function Picture({ draw }: PictureProps): ReactElement {
  const box = useRef<HTMLElement>(null);
  const width = useWidth(box);
  const picture = useMemo(() => {
    if (width === 0) return null;
    const chart = draw({ width, isHeaded: false });
    return { chart, drawn: drawChart(chart, width) };
  }, [draw, width]);
  return (
    <figure className="picture" ref={box}>
      {picture !== null && toElement(picture.drawn, picture.chart.title)}
    </figure>
  );
}

interface Drawn {
  readonly tag: string;
  readonly attrs: Readonly<Record<string, string | number | boolean | undefined>>;
  readonly children?: readonly Drawn[];
  readonly text?: string;
}

/** Renders to a tree for React: the page's content security policy refuses the HTML that ECharts would insert. */
function drawChart({ option, height }: Chart, width: number): Drawn {
  const chart = init(null, null, { renderer: 'svg', ssr: true, width, height });
  try {
    chart.setOption(option);
    const painter = chart.getZr().painter as unknown as { renderToVNode: (options: object) => Drawn };
    return painter.renderToVNode({ compress: true, useViewBox: true });
  } finally {
    chart.dispose();
  }
}

/** Colours of the page's theme by those of reports and of ECharts' own axes. */
const INKS: Readonly<Record<string, string>> = {
  [TEXT]: 'var(--text)',
  [FAINT]: 'var(--faint)',
  [PAPER]: 'var(--card)',
  '#54555a': 'var(--line-strong)',
  '#dbdee4': 'var(--line)',
  ...Object.fromEntries(HUES.map((hue, index) => [hue, `var(--hue-${index})`])),
};

function toElement({ tag, attrs, children = [], text }: Drawn, title?: string, key?: number): ReactElement {
  const named = title === undefined ? {} : { role: 'img', 'aria-label': title };
  const inner = children.length > 0 ? children.map((child, at) => toElement(child, undefined, at)) : text;
  return createElement(tag, { key, ...propsOf(attrs), ...named, style: styleOf(attrs) }, inner);
}

function propsOf(attrs: Drawn['attrs']): Drawn['attrs'] {
  const own = Object.entries(attrs).filter(
    ([name, value]) => value !== undefined && !/^(style|xmlns|ecmeta|baseProfile|version)/.test(name),
  );
  return Object.fromEntries(own.map(([name, value]) => [toCamel(name), value]));
}

/** Returns styles as an object, which the policy allows, without the font: the page's own applies. */
function styleOf({ style = '', fill, stroke }: Drawn['attrs']): Readonly<Record<string, string>> {
  const parts = String(style)
    .split(';')
    .map((part) => part.split(':'))
    .filter(([name]) => name !== '' && name !== 'font-family')
    .map(([name = '', value = '']) => [toCamel(name), value]);
  const inks = Object.entries({ fill, stroke }).flatMap(([name, colour]) => {
    const ink = INKS[String(colour)];
    return ink === undefined ? [] : [[name, ink]];
  });
  return Object.fromEntries([...parts, ...inks]) as Record<string, string>;
}

function toCamel(name: string): string {
  return name.replace(/[-:]([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

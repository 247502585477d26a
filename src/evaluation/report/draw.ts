import { needsPackages } from '../../explain';
import { reasonOf } from '../../reason-of';
import { type Chart, PAGE_WIDTH } from './page';

/** A drawn chart. */
export interface Picture {
  readonly file: string;
  readonly svg: string;
}

/** @throws Error that says how to install ECharts, an optional peer dependency, if it cannot be loaded */
export async function drawCharts(charts: readonly Chart[]): Promise<Picture[]> {
  const echarts = await import('echarts').catch((cause: unknown) => {
    throw new Error(needsPackages('a chart', ['echarts@6'], reasonOf(cause)), { cause });
  });
  return charts.map(({ file, height, option }) => {
    const chart = echarts.init(null, null, { renderer: 'svg', ssr: true, width: PAGE_WIDTH, height });
    try {
      chart.setOption(option);
      return { file: `${file}.svg`, svg: chart.renderToSVGString() };
    } finally {
      chart.dispose();
    }
  });
}

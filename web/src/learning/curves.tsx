import { type ReactElement, useCallback, useMemo } from 'react';
import { curvesChart, type CurvesPage } from '../../../src/report/curves-chart';
import type { Sheet } from '../../../src/report/chart';
import { effortCurves, learningCurves, tableOf } from '../../../src/training/curves';
import type { CycleMetrics } from '../../../src/training/records';
import { Picture } from '../parts/picture';
import { TextTable } from '../parts/text-table';

interface CurvesProps {
  readonly cycles: readonly CycleMetrics[];
}

/** Chart of rewards over all cycles, with a dotted line at the start of each night. */
export function RewardCurve({ cycles }: CurvesProps): ReactElement {
  const page = learningCurves(cycles);
  return <CurvesPicture page={{ ...page, panels: page.panels.slice(0, 1) }} />;
}

/** Charts of how plans changed and what the training took, with all figures in a table as well. */
export function Curves({ cycles }: CurvesProps): ReactElement {
  const [learned, effort] = [learningCurves(cycles), effortCurves(cycles)];
  return (
    <section className="card" aria-label="Figures">
      <h2>What was learned</h2>
      <CurvesPicture page={{ ...learned, panels: learned.panels.slice(1) }} />
      <details>
        <summary>What it took</summary>
        <CurvesPicture page={effort} />
      </details>
      <details>
        <summary>All figures as a table</summary>
        <TextTable label="Figures of all cycles" rows={tableOf([learned, effort]).rows} />
      </details>
    </section>
  );
}

function CurvesPicture({ page }: { readonly page: CurvesPage }): ReactElement {
  // Nights are polled, mostly without changes: compares by content to avoid drawing again.
  const text = JSON.stringify(page);
  const same = useMemo(() => page, [text]); // eslint-disable-line react-hooks/exhaustive-deps
  const draw = useCallback((sheet: Sheet) => curvesChart(same, sheet), [same]);
  return <Picture draw={draw} />;
}

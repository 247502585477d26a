import { type ReactElement, useCallback, useMemo } from 'react';
import { useQuery } from '@tanstack/react-query';
import type { Details } from '../../../src/evaluation/report/details';
import { findingsOf } from '../../../src/evaluation/report/describe-summary';
import type { Sheet } from '../../../src/report/chart';
import { chartsOf } from '../../../src/evaluation/report/score-charts';
import type { Summary } from '../../../src/evaluation/summarize';
import { request } from '../api/request';
import type { Me } from '../api/types';
import { Link } from '../parts/link';
import { Problem } from '../parts/notice';
import { Picture } from '../parts/picture';
import { useTitle } from '../parts/title';
import { TextTable } from '../parts/text-table';
import { Disagreements } from './disagreements';
import { MethodsTable } from './methods-table';

const LOOK_MS = 10_000;

/** Page of one evaluation: scores against costs, the methods as a table, and their disagreements. */
export default function Evaluation({ id, me }: { readonly id: string; readonly me: Me }): ReactElement {
  useTitle(id);
  const path = `/api/evaluations/${encodeURIComponent(id)}`;
  const { data, error } = useQuery({
    queryKey: ['evaluation', id],
    queryFn: () => request<Summary>(path),
    refetchInterval: ({ state: { data: found } }) => (isUnderWay(found) ? LOOK_MS : false),
  });
  return (
    <main className="place evaluation">
      <p>
        <Link href="/evaluations">Evaluations</Link>
      </p>
      <div className="list-head">
        <h1 dir="auto">{id}</h1>
      </div>
      {error !== null && data === undefined && (
        <Problem>This evaluation cannot be shown: {error.message}</Problem>
      )}
      {data !== undefined && <Found summary={data} />}
      {data !== undefined &&
        (me.isAdmin ? <Behind id={id} path={path} complete={data.complete} /> : <TakesAdmin />)}
    </main>
  );
}

function isUnderWay(summary: Summary | undefined): boolean {
  return summary !== undefined && summary.complete < summary.questions;
}

function Found({ summary }: { readonly summary: Summary }): ReactElement {
  const { complete, questions, file, workers } = summary;
  return (
    <>
      <section className="card" aria-label="Findings">
        <p dir="auto">
          Questions from {file}. Workers: {workers.join(', ')}.
        </p>
        {isUnderWay(summary) && (
          <p className="line" role="status">
            <progress max={questions} value={complete} aria-label="Questions that all methods answered" />
            {complete} of {questions} questions so far
          </p>
        )}
        {findingsOf(summary).map((finding) => (
          <p key={finding}>{finding}</p>
        ))}
      </section>
      <ChartCard summary={summary} file="score-cost" />
      <section className="card" aria-label="Methods">
        <h2>Methods</h2>
        <MethodsTable summary={summary} />
      </section>
      {['worker-shares', 'topology-shares', 'score-depth'].map((name) => (
        <ChartCard key={name} summary={summary} file={name} />
      ))}
    </>
  );
}

/** Sheet for a chart's title and subtitle, which do not depend on the width. */
const SOME_SHEET: Sheet = { width: 960, isHeaded: false };

function ChartCard({
  summary,
  file,
}: {
  readonly summary: Summary;
  readonly file: string;
}): ReactElement | null {
  const heading = useMemo(
    () => chartsOf(summary, SOME_SHEET).find((chart) => chart.file === file),
    [summary, file],
  );
  const draw = useCallback(
    (sheet: Sheet) => {
      const chart = chartsOf(summary, sheet).find((each) => each.file === file);
      if (chart === undefined) throw new Error(`there is no chart ${file}`);
      return chart;
    },
    [summary, file],
  );
  if (heading === undefined) return null;
  return (
    <section className="card" aria-label={heading.title}>
      <h2>{heading.title}</h2>
      <p className="faint">{heading.subtitle.split(' · ')[0]}</p>
      <Picture draw={draw} />
    </section>
  );
}

interface BehindProps {
  readonly id: string;
  readonly path: string;
  /** Number of completed questions; the details are read again when it grows. */
  readonly complete: number;
}

/** Tables of details behind the figures, and the questions on which methods disagree. */
function Behind({ id, path, complete }: BehindProps): ReactElement | null {
  const { data, failureReason: failure } = useQuery({
    queryKey: ['evaluation', id, 'details', complete],
    queryFn: () => request<Details>(`${path}/details`),
  });
  if (failure !== null) return <Problem>Its questions cannot be shown: {failure.message}</Problem>;
  if (data === undefined) return null;
  return (
    <>
      {data.tables.map((table, index) => {
        const name = table.rows[0]?.[0] ?? '';
        const title = name.includes(', by ') ? `Who answers: ${name}` : `By ${name}`;
        return (
          <section key={index} className="card" aria-label={title}>
            <h2>{title}</h2>
            <TextTable label={`${title}: table`} rows={table.rows} />
          </section>
        );
      })}
      {data.disagreements !== null && <Disagreements found={data.disagreements} />}
    </>
  );
}

function TakesAdmin(): ReactElement {
  return <p className="faint">Its questions, plans and answers are shown only to an admin key.</p>;
}

import { type ReactElement, useState } from 'react';
import { useQuery } from '@tanstack/react-query';
import { request } from '../api/request';
import type { Me, Night } from '../api/types';
import { Choice } from '../parts/choice';
import { Empty, Problem } from '../parts/notice';
import { RunOfNights } from './run-of-nights';
import { Serving } from './serving';

export interface TrainRun {
  readonly trainRun: string;
  readonly nights: readonly Night[];
}

const LOOK_MS = 15_000;

/** What was learned, night by night, and which checkpoint plans. */
export default function Learning({ me }: { readonly me: Me }): ReactElement {
  const [chosen, choose] = useState<string | null>(null);
  const { data, error } = useQuery({
    queryKey: ['nights'],
    queryFn: () => request<readonly TrainRun[]>('/api/nights'),
    refetchInterval: LOOK_MS,
  });
  const runs = (data ?? []).toSorted((one, other) => (openedAt(one) < openedAt(other) ? 1 : -1));
  const shown = runs.find(({ trainRun }) => trainRun === chosen) ?? runs[0];
  return (
    <main className="place learning">
      <div className="list-head">
        <h1>Learning</h1>
        {runs.length > 1 && shown !== undefined && (
          <Choice
            label="Training run"
            options={runs.map(({ trainRun }) => [trainRun, trainRun])}
            chosen={shown.trainRun}
            onChoose={choose}
          />
        )}
      </div>
      {error !== null && data === undefined && <Problem>The nights cannot be read: {error.message}</Problem>}
      <Serving me={me} />
      {runs.length === 0 && data !== undefined && (
        <Empty title="No nights yet">
          A Conductor of yours learns from your questions: docs/first-night.md leads from an empty folder to
          the first night.
        </Empty>
      )}
      {shown !== undefined && <RunOfNights key={shown.trainRun} listed={shown} me={me} />}
    </main>
  );
}

function openedAt({ nights }: TrainRun): string {
  return nights.at(-1)?.openedAt ?? '';
}

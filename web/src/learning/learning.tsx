import { type ReactElement, useState } from 'react';
import { useQuery } from '@tanstack/react-query';
import { request } from '../api/request';
import type { Me, TrainRun } from '../api/types';
import { Choice } from '../parts/choice';
import { Empty, Problem } from '../parts/notice';
import { useTitle } from '../parts/title';
import { RunOfNights } from './run-of-nights';
import { Serving, useCheckpoints } from './serving';

const LOOK_MS = 15_000;

/** Page with the nights of training runs and the checkpoint that serves. */
export default function Learning({ me }: { readonly me: Me }): ReactElement {
  useTitle('Learning');
  const { data, error } = useQuery({
    queryKey: ['nights'],
    queryFn: () => request<readonly TrainRun[]>('/api/nights'),
    refetchInterval: LOOK_MS,
  });
  // The serving checkpoint is shown above the nights: they wait for it, so that it does not push them down.
  const isReady = !useCheckpoints().isPending && data !== undefined;
  return (
    <main className="place learning">
      <div className="list-head">
        <h1>Learning</h1>
      </div>
      {error !== null && data === undefined && <Problem>The nights cannot be read: {error.message}</Problem>}
      <Serving me={me} />
      {isReady && <Runs runs={data} me={me} />}
    </main>
  );
}

/** One training run, by default the one with the latest night, with a choice of others. */
function Runs({ runs, me }: { readonly runs: readonly TrainRun[]; readonly me: Me }): ReactElement {
  const [chosen, choose] = useState<string | null>(null);
  const latest = runs.toSorted((one, other) => (openedAt(one) < openedAt(other) ? 1 : -1));
  const shown = latest.find(({ trainRun }) => trainRun === chosen) ?? latest[0];
  if (shown === undefined) {
    return (
      <Empty title="No nights yet">
        A Conductor of your own learns from your questions by night. It begins with{' '}
        <code>npx temporal-conductor train init --help</code>.
      </Empty>
    );
  }
  return (
    <>
      {latest.length > 1 && (
        <Choice
          label="Training run"
          options={latest.map(({ trainRun }) => [trainRun, trainRun])}
          chosen={shown.trainRun}
          onChoose={choose}
        />
      )}
      <RunOfNights key={shown.trainRun} listed={shown} me={me} />
    </>
  );
}

function openedAt({ nights }: TrainRun): string {
  return nights.at(-1)?.openedAt ?? '';
}

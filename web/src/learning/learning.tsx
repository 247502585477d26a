import type { ReactElement } from 'react';
import { useQuery } from '@tanstack/react-query';
import { request } from '../api/request';
import type { Me, Night } from '../api/types';
import { Empty, Problem } from '../parts/notice';
import { Serving } from './serving';

interface TrainRun {
  readonly trainRun: string;
  readonly nights: readonly Night[];
}

const LOOK_MS = 5000;

/** What was learned, night by night, and which checkpoint plans. */
export default function Learning({ me }: { readonly me: Me }): ReactElement {
  const { data, error } = useQuery({
    queryKey: ['nights'],
    queryFn: () => request<readonly TrainRun[]>('/api/nights'),
    refetchInterval: LOOK_MS,
  });
  return (
    <main className="place learning">
      <div className="list-head">
        <h1>Learning</h1>
      </div>
      {error !== null && data === undefined && <Problem>The nights cannot be read: {error.message}</Problem>}
      <Serving me={me} />
      {data?.length === 0 && (
        <Empty title="No nights yet">
          A Conductor of yours learns from your questions: docs/first-night.md leads from an empty folder to
          the first night.
        </Empty>
      )}
      {data?.map(({ trainRun, nights }) => (
        <section key={trainRun} className="card" aria-label={`Training run ${trainRun}`}>
          <h2>{trainRun}</h2>
          <Nights nights={nights} />
        </section>
      ))}
    </main>
  );
}

function Nights({ nights }: { readonly nights: readonly Night[] }): ReactElement {
  return (
    <div className="scroll" tabIndex={0} role="region" aria-label="Nights">
      <table>
        <thead>
          <tr>
            <th scope="col">Night</th>
            <th scope="col">Cycles</th>
            <th scope="col">Reward</th>
            <th scope="col">Its gate</th>
          </tr>
        </thead>
        <tbody>
          {[...nights].reverse().map((night) => (
            <tr key={night.date}>
              <th scope="row">{night.date}</th>
              <td>
                {night.done} of {night.last - night.first + 1}
              </td>
              <td>{describeRewards(night)}</td>
              <td className="words">
                {night.decision ?? (night.closedAt === null ? 'it goes on' : 'there was none')}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** `0.12 → 0.31`: of its first cycle and of its last. */
function describeRewards({ cycles }: Night): string {
  const [first, last] = [cycles.at(0), cycles.at(-1)];
  if (first === undefined || last === undefined) return '–';
  return `${first.rewardMean.toFixed(2)} → ${last.rewardMean.toFixed(2)}`;
}

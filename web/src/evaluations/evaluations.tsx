import type { ReactElement } from 'react';
import { useQuery } from '@tanstack/react-query';
import { request } from '../api/request';
import type { ListedEvaluation } from '../api/types';
import { Age } from '../parts/age';
import { Link } from '../parts/link';
import { Empty, Problem } from '../parts/notice';
import { useTitle } from '../parts/title';
import { useNow } from '../parts/now';
import { pathOfEvaluation } from '../route';

const LOOK_MS = 15_000;
const MINUTE_MS = 60_000;

/** Page with the list of evaluations, newest first. */
export default function Evaluations(): ReactElement {
  useTitle('Evaluations');
  const { data, error } = useQuery({
    queryKey: ['evaluations'],
    queryFn: () => request<readonly ListedEvaluation[]>('/api/evaluations'),
    refetchInterval: LOOK_MS,
  });
  return (
    <main className="place evaluations">
      <div className="list-head">
        <h1>Evaluations</h1>
      </div>
      {error !== null && data === undefined && (
        <Problem>The evaluations cannot be read: {error.message}</Problem>
      )}
      {data?.length === 0 && (
        <Empty title="No evaluations yet">
          <code>temporal-conductor eval FILE</code> asks the Conductor and each worker on its own the same
          questions, and shows here how often each is right, and at what cost.
        </Empty>
      )}
      {data !== undefined && data.length > 0 && <List evaluations={data} />}
    </main>
  );
}

function List({ evaluations }: { readonly evaluations: readonly ListedEvaluation[] }): ReactElement {
  const now = useNow(MINUTE_MS);
  return (
    <div className="scroll" tabIndex={0} role="region" aria-label="Evaluations">
      <table>
        <thead>
          <tr>
            <th scope="col">Evaluation</th>
            <th scope="col" className="words">
              File
            </th>
            <th scope="col" className="words">
              Methods
            </th>
            <th scope="col">Questions</th>
            <th scope="col">Age</th>
          </tr>
        </thead>
        <tbody>
          {evaluations.map(({ id, file, methods, questions, startedAt }) => (
            <tr key={id}>
              <th scope="row">
                <Link href={pathOfEvaluation(id)}>{id}</Link>
              </th>
              <td className="words" dir="auto">
                {file}
              </td>
              <td className="words">{methods.join(', ')}</td>
              <td>{questions.toLocaleString()}</td>
              <td>
                <Age at={startedAt} now={now} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

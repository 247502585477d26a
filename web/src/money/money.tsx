import { type ReactElement, useState } from 'react';
import { counted, describeUsd } from '../../../src/trace/describe';
import { useCost } from '../api/queries';
import type { CostLine, Me } from '../api/types';
import { Link } from '../parts/link';
import { Empty, Problem } from '../parts/notice';
import { pathOfSolve } from '../route';

const GROUPS = [
  ['workflow', 'Dearest solves'],
  ['day', 'By day'],
  ['worker', 'By worker'],
  ['model', 'By model'],
] as const;

/** What was spent. Other groups than solves add up those of all keys, which takes an admin key. */
export default function Money({ me }: { readonly me: Me }): ReactElement {
  const [by, setBy] = useState<Group>(me.isAdmin ? 'day' : 'workflow');
  const { data, error } = useCost(by, true);
  const groups = GROUPS.filter(([name]) => me.isAdmin || name === 'workflow');
  return (
    <main className="place money">
      <div className="list-head">
        <h1>Money</h1>
        <div className="choice" role="group" aria-label="Add up">
          {groups.map(([name, words]) => (
            <button
              key={name}
              type="button"
              aria-pressed={name === by}
              onClick={() => {
                setBy(name);
              }}
            >
              {words}
            </button>
          ))}
        </div>
      </div>
      {error !== null && data === undefined && (
        <Problem>What was spent cannot be read: {error.message}</Problem>
      )}
      {data?.lines.length === 0 && (
        <Empty title="Nothing was spent yet">
          <Link href="/">Ask a question</Link>: each call of a model is noted here with its price.
        </Empty>
      )}
      {data !== undefined && data.lines.length > 0 && (
        <>
          <p className="total">
            <strong>{describeSpent(data.total)}</strong> for {counted(data.total.calls, 'call')}
            {data.total.savedUsd > 0 && <>; prompt caches saved {describeUsd(data.total.savedUsd)}</>}
          </p>
          <CostTable by={by} lines={by === 'day' ? [...data.lines].reverse() : data.lines} />
        </>
      )}
    </main>
  );
}

const MOST_LINES = 50;

type Group = (typeof GROUPS)[number][0];

const HEADS: Readonly<Record<Group, string>> = {
  workflow: 'Solve',
  day: 'Day',
  worker: 'Worker',
  model: 'Model',
};

function CostTable({ by, lines }: { readonly by: Group; readonly lines: readonly CostLine[] }): ReactElement {
  const most = Math.max(...lines.map(({ costUsd }) => costUsd), 1e-9);
  return (
    <div className="scroll" tabIndex={0} role="region" aria-label="Costs">
      <table>
        <thead>
          <tr>
            <th scope="col">{HEADS[by]}</th>
            <th scope="col">Cost</th>
            <th scope="col" className="share">
              <span className="hidden">Share</span>
            </th>
            <th scope="col">Calls</th>
            <th scope="col">Tokens in</th>
            <th scope="col">Tokens out</th>
          </tr>
        </thead>
        <tbody>
          {lines.slice(0, MOST_LINES).map((line) => (
            <tr key={line.name}>
              <th scope="row">
                {by === 'workflow' ? <Link href={pathOfSolve(line.name)}>{line.name}</Link> : line.name}
              </th>
              <td>{describeSpent(line)}</td>
              <td className="share">
                <meter min={0} max={most} value={line.costUsd} aria-label={`share of ${line.name}`} />
              </td>
              <td>{line.calls.toLocaleString()}</td>
              <td>{line.inputTokens.toLocaleString()}</td>
              <td>{line.outputTokens.toLocaleString()}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function describeSpent({ costUsd, costIsLowerBound }: CostLine): string {
  return `${costIsLowerBound ? 'at least ' : ''}${describeUsd(costUsd)}`;
}

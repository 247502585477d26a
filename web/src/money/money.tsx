import { type ReactElement, useCallback, useState } from 'react';
import type { Sheet } from '../../../src/report/chart';
import { counted, describeCost, describeUsd, joinFacts } from '../../../src/trace/describe';
import { useCost } from '../api/queries';
import type { CostLine, Me } from '../api/types';
import { Choice } from '../parts/choice';
import { Link } from '../parts/link';
import { Empty, Problem } from '../parts/notice';
import { Picture } from '../parts/picture';
import { useTitle } from '../parts/title';
import { pathOfSolve } from '../route';
import { daysChart, daysOf } from './days';

const GROUPS = [
  ['day-worker', 'By day'],
  ['worker', 'By worker'],
  ['model', 'By model'],
  ['key', 'By key'],
  ['workflow', 'Most expensive solves'],
] as const;

/** Page with costs. All groups except solves add up the costs of all keys, which needs an admin key. */
export default function Money({ me }: { readonly me: Me }): ReactElement {
  useTitle('Money');
  const [by, setBy] = useState<Group>(me.isAdmin ? 'day-worker' : 'workflow');
  const { data, error } = useCost(by, true);
  const groups = GROUPS.filter(([name]) => me.isAdmin || name === 'workflow');
  return (
    <main className="place money">
      <div className="list-head">
        <h1>Money</h1>
        <Choice label="Sum costs" options={groups} chosen={by} onChoose={setBy} />
      </div>
      {error !== null && data === undefined && <Problem>The costs cannot be read: {error.message}</Problem>}
      {data?.lines.length === 0 && (
        <Empty title="No costs yet">
          <Link href="/">Ask a question</Link>: the cost of each model call is counted here.
        </Empty>
      )}
      {data !== undefined && data.lines.length > 0 && (
        <>
          <Total total={data.total} />
          {by === 'day-worker' ? <Days lines={data.lines} /> : <CostTable by={by} lines={data.lines} />}
        </>
      )}
    </main>
  );
}

function Total({ total }: { readonly total: CostLine }): ReactElement {
  const { calls, savedUsd, unknown, open } = total;
  return (
    <div className="total">
      <p>
        <strong>{describeCost(total)}</strong> for {counted(calls, 'call')}
        {savedUsd > 0 && <>; prompt caches saved {describeUsd(savedUsd)}</>}
        {savedUsd < 0 && <>; prompt caches cost {describeUsd(-savedUsd)} more than they saved</>}
      </p>
      {unknown > 0 && (
        <p className="faint">
          {joinFacts(
            open > 0 &&
              `${counted(open, 'unfinished call')}: still running, or lost with a process that died`,
            unknown > open && `${counted(unknown - open, 'call')} of unknown cost`,
          )}
        </p>
      )}
    </div>
  );
}

function Days({ lines }: { readonly lines: readonly CostLine[] }): ReactElement {
  const draw = useCallback((sheet: Sheet) => daysChart(daysOf(lines), sheet), [lines]);
  return (
    <>
      <section className="card" aria-label="By day and worker">
        <Picture draw={draw} />
      </section>
      <CostTable by="day-worker" lines={daysOf(lines).reverse()} />
    </>
  );
}

const MOST_LINES = 50;

type Group = (typeof GROUPS)[number][0];

const HEADS: Readonly<Record<Group, string>> = {
  workflow: 'Solve',
  'day-worker': 'Day',
  worker: 'Worker',
  model: 'Model',
  key: 'Key',
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
            <th scope="col">Caches saved</th>
            <th scope="col">Calls</th>
            <th scope="col">Tokens in</th>
            <th scope="col">Tokens out</th>
          </tr>
        </thead>
        <tbody>
          {lines.slice(0, MOST_LINES).map((line) => (
            <tr key={line.name}>
              <th scope="row" dir="auto">
                {by === 'workflow' ? <Link href={pathOfSolve(line.name)}>{line.name}</Link> : line.name}
              </th>
              <td>{describeCost(line)}</td>
              <td className="share">
                <meter min={0} max={most} value={line.costUsd} aria-label={`share of ${line.name}`} />
              </td>
              <td>{line.savedUsd === 0 ? '–' : describeSaved(line.savedUsd)}</td>
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

function describeSaved(usd: number): string {
  return usd < 0 ? `−${describeUsd(-usd)}` : describeUsd(usd);
}

import { type ReactElement, useState } from 'react';
import { describeChance } from '../../../src/evaluation/report/describe-summary';
import { plain } from '../../../src/report/chart';
import { signed } from '../../../src/trace/lines';
import type { MethodSummary, Summary } from '../../../src/evaluation/summarize';
import { describeMs, describeUsd } from '../../../src/trace/describe';

interface Column {
  readonly head: string;
  /** Sort key of a row; null comes last. */
  readonly value: (method: MethodSummary) => number | string | null;
  readonly cell: (method: MethodSummary) => string;
  /** Whether the first click sorts upwards: for names, and for values of which less is better. */
  readonly isAscending?: boolean;
}

const NOTHING = '–';

const COLUMNS: readonly Column[] = [
  { head: 'Method', value: ({ method }) => method, cell: ({ method }) => method, isAscending: true },
  { head: 'Score', value: ({ score }) => score, cell: ({ score }) => score?.toFixed(3) ?? NOTHING },
  {
    head: '95 % interval',
    value: ({ interval }) => interval?.[0] ?? null,
    cell: ({ interval }) => interval?.map((bound) => bound.toFixed(3)).join('–') ?? NOTHING,
  },
  {
    head: 'Cost per question',
    value: ({ usd }) => usd,
    cell: ({ usd }) => (usd === null ? 'unknown' : describeUsd(usd)),
    isAscending: true,
  },
  {
    head: 'Difference',
    value: ({ comparison }) => comparison?.gain ?? null,
    cell: ({ comparison }) => (comparison === null ? NOTHING : signed(comparison.gain)),
  },
  {
    head: 'p',
    value: pOf,
    cell: (method) => {
      const p = pOf(method);
      return p === null ? NOTHING : describeChance(p);
    },
    isAscending: true,
  },
  { head: 'Tokens', value: ({ tokens }) => tokens, cell: ({ tokens }) => plain(tokens), isAscending: true },
  {
    head: 'Median time',
    value: ({ latencyMs }) => latencyMs.median,
    cell: ({ latencyMs }) => describeMs(latencyMs.median),
    isAscending: true,
  },
];

/** Returns p adjusted for the number of methods, or else the plain p. */
function pOf({ adjustedP, comparison }: MethodSummary): number | null {
  return adjustedP ?? comparison?.p ?? null;
}

/** Table with a row per method, sorted by the chosen column; choosing it again reverses the order. */
export function MethodsTable({ summary }: { readonly summary: Summary }): ReactElement {
  const [{ at, isTurned }, sort] = useState({ at: 1, isTurned: false });
  const column = COLUMNS[at];
  const isUp = (column?.isAscending === true) !== isTurned;
  const methods = column === undefined ? summary.methods : sorted(summary.methods, column, isUp);
  return (
    <>
      <div className="scroll" tabIndex={0} role="region" aria-label="Scores and costs">
        <table className="sortable">
          <thead>
            <tr>
              {COLUMNS.map(({ head }, index) => (
                <th
                  key={head}
                  scope="col"
                  aria-sort={index === at ? (isUp ? 'ascending' : 'descending') : undefined}
                >
                  <button
                    type="button"
                    className="quiet"
                    onClick={() => {
                      sort({ at: index, isTurned: index === at && !isTurned });
                    }}
                  >
                    {head}
                    <span aria-hidden="true">{index === at ? (isUp ? '\u00A0↑' : '\u00A0↓') : ''}</span>
                  </button>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {methods.map((method) => (
              <tr key={method.method}>
                {COLUMNS.map(({ head, cell }, index) =>
                  index === 0 ? (
                    <th key={head} scope="row">
                      {cell(method)}
                    </th>
                  ) : (
                    <td key={head}>{cell(method)}</td>
                  ),
                )}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <p className="faint">
        Difference from {summary.reference}, question by question. p is adjusted for the number of methods,
        except for a primary method named in advance.
      </p>
    </>
  );
}

function sorted(
  methods: readonly MethodSummary[],
  { value }: Column,
  isUp: boolean,
): readonly MethodSummary[] {
  return methods.toSorted((one, other) => {
    const [a, b] = [value(one), value(other)];
    if (a === null || b === null) return Number(a === null) - Number(b === null);
    const order = a < b ? -1 : Number(a > b);
    return isUp ? order : -order;
  });
}

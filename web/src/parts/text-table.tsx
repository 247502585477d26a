import type { ReactElement } from 'react';

interface TextTableProps {
  readonly label: string;
  /** Header row first. */
  readonly rows: readonly (readonly string[])[];
}

/** Table of a report. */
export function TextTable({ label, rows: [head = [], ...rows] }: TextTableProps): ReactElement {
  return (
    <div className="scroll" tabIndex={0} role="region" aria-label={label}>
      <table>
        <thead>
          <tr>
            {head.map((cell, column) => (
              <th key={column} scope="col">
                {cell}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(([name, ...cells], row) => (
            <tr key={row}>
              <th scope="row">{name}</th>
              {cells.map((cell, column) => (
                <td key={column}>{cell}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

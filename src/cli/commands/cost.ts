import { configuredKeys } from '../../encryption/configured-keys';
import { nameOfKey } from '../../encryption/sealed-name';
import type { CostGroup } from '../../ledger/cost-groups';
import { readDay, type Day, type Zone } from '../../ledger/days';
import { withLedgerIndex } from '../../ledger/ledger-index';
import { sumCosts, type CostLine, type CostQuery, type CostReport } from '../../ledger/sum-costs';
import { updateIndex } from '../../ledger/update-index';
import type { Config } from '../../pool/config-schema';
import { openStore } from '../../store/open-store';
import { renderCsv } from '../cost/render-csv';
import { renderTable } from '../cost/render-table';
import { EXIT, type ExitCode } from '../exit-code';
import { loadSettings } from '../load-settings';
import { paintFor, print, say } from '../terminal';
import { UsageError } from '../usage-error';

interface CostOptions {
  readonly config?: string;
  readonly by: CostGroup;
  /** Dates, `YYYY-MM-DD`, both included. */
  readonly since?: string;
  readonly until?: string;
  /** Days are those of UTC instead of the local time zone. */
  readonly utc?: boolean;
  readonly csv?: boolean;
  readonly json?: boolean;
}

/** Where the index lies: beside the default store, and beside nothing else for a store in the cloud. */
const INDEX_FOLDER = '.conductor';

/** As many rows are read without a word; more may take some seconds. */
const ROWS_IN_SILENCE = 5000;

/** Sums what the ledger holds, and prints it. Needs no server. */
export async function cost(options: CostOptions): Promise<ExitCode> {
  const zone = options.utc ? 'utc' : 'local';
  const span = spanOf(options, zone);
  const config = await loadSettings(options.config);
  const report = await reportOn(config, { by: options.by, zone, ...span });
  if (options.json) await print(toJson(report, span, zone));
  else if (options.csv) await print(renderCsv(report));
  else if (report.lines.length === 0) say(`No calls ${describeSpan(span)}in the ledger of ${config.store}.`);
  else await print(renderTable(report, paintFor(process.stdout)));
  return EXIT.answered;
}

type Span = Pick<CostQuery, 'since' | 'until'>;

async function reportOn(config: Config, query: CostQuery): Promise<CostReport> {
  const keys = configuredKeys(config);
  const store = openStore(config.store, process.cwd(), { keys });
  return withLedgerIndex(store, INDEX_FOLDER, async (index) => {
    await updateIndex(index, store, {
      onRows: (count) => {
        if (count > ROWS_IN_SILENCE) say(`Reading ${count.toLocaleString('en-US')} rows of the ledger …`);
      },
      ...(keys && { idOf: (key: string) => nameOfKey(key, keys.first) }),
    });
    return sumCosts(index, query);
  });
}

function spanOf({ since, until }: CostOptions, zone: Zone): Span {
  if (since !== undefined && until !== undefined && since > until) {
    throw new UsageError(`--since ${since} lies after --until ${until}: no day is left`);
  }
  return {
    ...(since !== undefined && { since: dayOf('--since', since, zone) }),
    ...(until !== undefined && { until: dayOf('--until', until, zone) }),
  };
}

function dayOf(option: string, name: string, zone: Zone): Day {
  const day = readDay(name, zone);
  if (day !== null) return day;
  throw new UsageError(`${option} ${JSON.stringify(name)} is no date: expected one such as 2026-11-21`);
}

function describeSpan({ since, until }: Span): string {
  const from = since === undefined ? '' : `from ${since.name} on `;
  return until === undefined ? from : `${from}up to ${until.name} `;
}

function toJson({ by, lines, total }: CostReport, { since, until }: Span, zone: Zone): string {
  const timeZone = zone === 'utc' ? 'UTC' : Intl.DateTimeFormat().resolvedOptions().timeZone;
  const report = {
    by,
    since: since?.name ?? null,
    until: until?.name ?? null,
    timeZone,
    lines: lines.map(withUsd),
    total: withUsd(total),
  };
  return JSON.stringify(report, null, 2);
}

function withUsd(line: CostLine): CostLine & { costUsd: number; costIsLowerBound: boolean } {
  return { ...line, costUsd: line.nanoUsd / 1e9, costIsLowerBound: line.unknown > 0 };
}

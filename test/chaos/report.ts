import { tally } from '../../src/statistics/tally';
import { megabytes } from './audit';
import { peaksOf } from './audit-rates';
import { stateOf } from './audit-runs';
import type { Evidence } from './evidence';
import { callsOfTools } from './tools/audit-tools';
import type { ChaosOptions, ChaosResult } from './run-chaos';

/** Returns a readable report of a chaos run: what happened, what it cost, and what did not hold. */
export function reportOf(
  { seed, solves, kills, store }: Pick<ChaosOptions, 'seed' | 'solves' | 'kills' | 'store'>,
  result: ChaosResult,
): string {
  const { evidence, findings, folder, tookMs } = result;
  const { requests, rows, memory } = evidence;
  const completed = rows.filter(({ nanoUsd }) => nanoUsd !== null);
  const lines: readonly (readonly [string, string])[] = [
    ['seed', String(seed)],
    ['store', store],
    ['took', `${Math.round(tookMs / 1000)} s`],
    ['solves', `${solves}: ${describeCounts([...evidence.runs.values()].map(stateOf))}`],
    [
      'kills',
      `${evidence.kills.length} of ${kills}: ${describeCounts(evidence.kills.map(({ victim }) => victim))}`,
    ],
    [
      'requests seen by the providers',
      `${requests.length}: ${describeCounts(requests.map(({ outcome }) => kindOf(outcome)))}`,
    ],
    ...describeStreams(evidence),
    ...describeTools(evidence),
    [
      'rows in the ledger',
      `${rows.length}: ${completed.length} with an amount, ${rows.length - completed.length} without`,
    ],
    ...peaksOf(evidence).map(
      ({ peak, limit: { model, what, most } }) =>
        [`most ${what} of ${model}`, `${peak} of ${most} allowed to all workers`] as const,
    ),
    [
      'memory of the worker never killed',
      `${megabytes(memory.before.rss)} → ${megabytes(memory.after.rss)} (heap ${megabytes(memory.before.heapUsed)} → ${megabytes(memory.after.heapUsed)})`,
    ],
  ];
  const width = Math.max(...lines.map(([label]) => label.length));
  const table = lines.map(([label, value]) => `${label.padEnd(width)}  ${value}`);
  const verdict =
    findings.length === 0
      ? ['Everything held.']
      : [
          `${findings.length} findings; database, store and logs are kept in ${folder ?? ''}`,
          ...findings.map(
            ({ law, difference, run }) => `✖ ${law}\n  ${run === null ? '' : `${run}: `}${difference}`,
          ),
        ];
  return [...table, '', ...verdict].join('\n');
}

function describeStreams({ heard = [] }: Evidence): [string, string][] {
  if (heard.length === 0) return [];
  return [['events that clients were told', describeCounts(heard.map(({ event }) => event.kind))]];
}

function describeTools({ runs }: Evidence): [string, string][] {
  const outcomes = [...runs.values()].flatMap((run) =>
    callsOfTools(run).map(({ outcome }) => outcome ?? 'cut off'),
  );
  if (outcomes.length === 0) return [];
  return [['calls of tools', `${outcomes.length}: ${describeCounts(outcomes)}`]];
}

/** `3 worker, 1 server`, the most frequent first. */
function describeCounts(values: readonly string[]): string {
  return Object.entries(tally(values))
    .sort(([, a], [, b]) => b - a)
    .map(([value, count]) => `${count} ${value}`)
    .join(', ');
}

function kindOf(outcome: string | null): string {
  if (outcome === null) return 'cut off';
  return outcome.startsWith('fault:') ? 'faulty' : outcome;
}

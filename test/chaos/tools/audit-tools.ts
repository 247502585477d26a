import type { SolveResult } from '../../../src';
import { tally } from '../../../src/statistics/tally';
import { type Evidence, type Finding, finding } from '../evidence';
import type { Note } from './tool-world';

/** What is known of one call of a tool: from the trace, and from the server that was called. */
interface Told {
  readonly run: string;
  readonly key: string;
  readonly isRepeatable: boolean;
  readonly outcome: string | null;
  readonly output: string;
  readonly begun: number;
  readonly ended: number;
}

const UNKNOWN = /outcome of this call is unknown/;

/** Checks what the model was told of its calls against what the servers noted. */
export function auditTools({ runs }: Evidence, notes: readonly Note[]): Finding[] {
  const began = tally(notes.flatMap(({ what, key = '' }) => (what === 'begun' ? [key] : [])));
  const ended = tally(notes.flatMap(({ what, key = '' }) => (what === 'ended' ? [key] : [])));
  const calls = [...runs].flatMap(([run, trace]) =>
    callsOfTools(trace).map(({ name, arguments: input, outcome, output }): Told => {
      const { key } = JSON.parse(input) as { readonly key: string };
      const counts = { begun: began[key] ?? 0, ended: ended[key] ?? 0 };
      return { run, key, isRepeatable: name.endsWith('look'), outcome, output: output ?? '', ...counts };
    }),
  );
  return calls.flatMap((call) =>
    complaintsAbout(call).map((law) => finding(law, JSON.stringify(call), call.run)),
  );
}

function complaintsAbout({ isRepeatable, outcome, output, begun, ended }: Told): string[] {
  const isKnown = outcome === 'ok' || outcome === 'error';
  return [
    ...(!isRepeatable && begun > 1 ? ['a call that may not be repeated is sent at most once'] : []),
    ...(outcome === 'ok' && ended === 0 ? ['a result is one that the tool gave'] : []),
    ...(outcome === 'error' && begun > 0
      ? ['a call that was begun is not told as one that was not made']
      : []),
    ...(begun > 0 && ended === 0 && isKnown ? ['a call without an end has no known outcome'] : []),
    ...(outcome === 'unknown' && !UNKNOWN.test(output) ? ['an unknown outcome is told'] : []),
  ];
}

export function callsOfTools(trace: SolveResult | null) {
  const steps = (trace?.rounds ?? []).flatMap((round) => round.steps);
  return steps.flatMap(({ turns = [] }) => turns.flatMap(({ calls }) => calls));
}

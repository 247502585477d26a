import type { SolveResult } from '../../../src';
import { tally } from '../../../src/statistics/tally';
import { type Evidence, type Finding, finding } from '../evidence';
import type { Note } from './tool-world';

/** Evidence about one tool call, from the trace and from the server. */
interface Told {
  readonly run: string;
  readonly key: string;
  readonly isRepeatable: boolean;
  readonly outcome: string | null;
  readonly output: string;
  readonly begun: number;
  readonly ended: number;
}

const UNKNOWN = 'outcome of this call is unknown';

/** Laws, each with what breaks it. */
const LAWS: readonly (readonly [law: string, isBroken: (call: Told) => boolean])[] = [
  [
    'a call that may not be repeated is sent at most once',
    ({ isRepeatable, begun }) => !isRepeatable && begun > 1,
  ],
  ['a result is one that the tool gave', ({ outcome, ended }) => outcome === 'ok' && ended === 0],
  [
    'a call that was begun is not told as one that was not made',
    ({ outcome, begun }) => outcome === 'error' && begun > 0,
  ],
  ['an unknown outcome is told', ({ outcome, output }) => outcome === 'unknown' && !output.includes(UNKNOWN)],
];

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
    LAWS.filter(([, isBroken]) => isBroken(call)).map(([law]) =>
      finding(law, JSON.stringify(call), call.run),
    ),
  );
}

type TracedCall = NonNullable<
  SolveResult['rounds'][number]['steps'][number]['turns']
>[number]['calls'][number];

/** Returns the calls of tools in a trace. */
export function callsOfTools(trace: SolveResult | null): TracedCall[] {
  const steps = (trace?.rounds ?? []).flatMap((round) => round.steps);
  return steps.flatMap(({ turns = [] }) => turns.flatMap(({ calls }) => calls));
}

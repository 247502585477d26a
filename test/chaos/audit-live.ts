import type { LiveEvent, SolveResult } from '../../src';
import { groupBy } from '../../src/statistics/tally';
import { type Evidence, type Finding, finding } from './evidence';

const LAW = 'a stream that goes on from a cursor neither loses nor repeats an event, and ends as the answer';

/** Checks the streams that clients recorded, across restarts, against the runs. */
export function auditLive({ heard = [], runs }: Evidence): Finding[] {
  return [...groupBy(heard, ({ id }) => id)].flatMap(([id, own]) => {
    const run = runs.get(id) ?? null;
    const differences = differencesOf(
      own.map(({ event }) => event),
      run,
    );
    return differences.map((difference) => finding(LAW, difference, id));
  });
}

function differencesOf(events: readonly LiveEvent[], run: SolveResult | null): string[] {
  const steps = groupBy(
    events.filter((event) => 'step' in event),
    (event) => `${event.childId ?? ''} ${event.round} ${event.step}`,
  );
  const ends = events.filter(({ kind }) => kind === 'ended').length;
  const isLast = events.at(-1)?.kind === 'ended';
  return [
    ...(ends === 1 && isLast
      ? []
      : [`it was told ${ends} ends, and the last event is ${events.at(-1)?.kind}`]),
    ...repeatsIn(events),
    ...[...steps].flatMap(([name, own]) => gapsIn(own).map((gap) => `step ${name}: ${gap}`)),
    ...stepsOf(run).flatMap(([name, output]) => {
      const told = textOf(steps.get(name) ?? []);
      const isTold = told === output;
      return isTold ? [] : [`step ${name}: ${told.length} characters told are not its ${output.length}`];
    }),
  ];
}

function repeatsIn(events: readonly LiveEvent[]): string[] {
  const names = events.flatMap((event) => {
    if (event.kind === 'planned' || event.kind === 'reviewed')
      return [`${event.kind} ${event.childId} ${event.round}`];
    return event.kind === 'stepStarted'
      ? [`${event.kind} ${event.childId} ${event.round} ${event.step}`]
      : [];
  });
  const repeated = names.filter((name, index) => names.indexOf(name) !== index);
  return repeated.map((name) => `"${name}" was told twice`);
}

type StepEvent = Extract<LiveEvent, { readonly step: number }>;

/** Describes the events of a step that do not continue where the previous one ended. */
function gapsIn(events: readonly StepEvent[]): string[] {
  let [attempt, offset, isEnded] = [1, 0, false];
  const gaps: string[] = [];
  for (const event of events) {
    if (event.kind === 'restarted') {
      if (event.attempt !== attempt + 1) gaps.push(`attempt ${event.attempt} follows attempt ${attempt}`);
      [attempt, offset, isEnded] = [event.attempt, 0, false];
    } else if (isEnded) gaps.push(`${event.kind} after its end`);
    else if (event.kind === 'stepEnded') isEnded = true;
    else if (event.kind === 'text') {
      if (event.attempt !== attempt || event.offset !== offset) {
        gaps.push(`text at ${event.attempt}/${event.offset} follows ${attempt}/${offset}`);
      }
      offset = event.offset + event.delta.length;
    }
  }
  return gaps;
}

/** Returns the text that was told since the last restart of the step. */
function textOf(events: readonly StepEvent[]): string {
  const from = events.findLastIndex(({ kind }) => kind === 'restarted');
  return events
    .slice(from + 1)
    .map((event) => (event.kind === 'text' ? event.delta : ''))
    .join('');
}

/** Returns the outputs of steps that did not fail; the text of a failed step is no answer. */
function stepsOf(run: SolveResult | null): (readonly [name: string, output: string])[] {
  const rounds = run?.rounds ?? [];
  return rounds.flatMap(({ childId, round, steps }) =>
    steps.flatMap(({ index, output, error }) =>
      output === null || error !== null ? [] : [[`${childId ?? ''} ${round} ${index}`, output] as const],
    ),
  );
}

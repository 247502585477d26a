import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import fc from 'fast-check';
import type { LiveEvent, Retry, SolveResult } from '../../src';
import { LiveTeller } from '../../src/client/live/live-teller';
import { streamRun } from '../../src/client';
import type { LiveText } from '../../src/store/stream-log';
import { emptyTrace } from '../../src/trace/reduce';

const ID = 'run';

/** One attempt of a step: the pieces that it wrote, and whether it failed. */
interface Attempt {
  readonly pieces: readonly string[];
  /** Thoughts before them; `isLate`: written as text first. */
  readonly thoughts?: readonly string[];
  readonly isLate?: boolean;
  readonly failed: boolean;
}

const timeOf = (second: number): string => new Date(Date.UTC(2026, 0, 1, 0, 0, second)).toISOString();

/** Returns what a store's log holds of a step's attempts, in the order of writing. */
function logOf(attempts: readonly Attempt[]): LiveText[] {
  return attempts.flatMap(({ pieces, thoughts = [], isLate = false }, index) => {
    const place = {
      workflowId: ID,
      round: 0,
      step: 0,
      callId: `call-${index}`,
      attempt: 1,
      startedAt: timeOf(index),
    };
    let offset = 0;
    const write = (text: string, isThoughts: boolean): LiveText => {
      offset += text.length;
      return { ...place, offset: offset - text.length, text, ...(isThoughts && { isThoughts }) };
    };
    const late = isLate ? thoughts.map((text) => write(text, false)) : [];
    const early = thoughts.map((text) => write(text, true));
    return [...late, ...early, ...pieces.map((text) => write(text, false))];
  });
}

const error = { type: 'Provider.Interrupted', message: 'broke off' };

/** Returns the states of a run with one step: under way and ended for each attempt, then completed. */
function statesOf(attempts: readonly Attempt[]): SolveResult[] {
  const trace = emptyTrace({ id: ID, runId: 'r', question: 'Why?' }) as SolveResult;
  const plan = { steps: [{ worker: 'a', subtask: 'Answer.', sees: [] }] };
  const stateWith = (output: string | null, failed: boolean, count: number): SolveResult => {
    const step = {
      index: 0,
      wave: 0,
      worker: 'a',
      model: 'm',
      output,
      error: failed ? error : null,
      dropped: [],
    };
    const times = { startedAt: timeOf(0), endedAt: output === null ? null : timeOf(count - 0.5) };
    const calls = attempts.slice(0, count).map(({ failed: isFailed }, index) => ({
      ...{
        callId: `call-${index}`,
        attempt: 1,
        purpose: 'step' as const,
        round: 0,
        step: 0,
        worker: 'a',
        model: 'm',
      },
      ...{ error: isFailed ? error : null, usage: null, nanoUsd: null },
    }));
    const round = { round: 0, depth: 0, childId: null, plan, answer: output, decision: null };
    return {
      ...trace,
      calls,
      rounds: [{ ...round, steps: [{ ...step, ...times, childId: null, fallbackFor: null }] }],
    };
  };
  const states = attempts.flatMap(({ pieces, failed }, index) => [
    stateWith(null, false, index),
    stateWith(pieces.join(''), failed, index + 1),
  ]);
  const last = states.at(-1);
  if (last === undefined) return states;
  return [...states, { ...last, status: 'completed', answer: attempts.at(-1)?.pieces.join('') ?? '' }];
}

/** Returns the text that a reader holds after these events: what was told since the last restart. */
function heldAfter(events: readonly LiveEvent[]): string {
  return events.reduce((held, event) => {
    if (event.kind === 'restarted') return '';
    return event.kind === 'text' ? held + event.delta : held;
  }, '');
}

const pieces = fc.array(fc.string({ minLength: 1, maxLength: 5 }), { minLength: 1, maxLength: 5 });
const attempts = fc
  .array(
    fc.tuple(pieces, fc.array(fc.string({ minLength: 1, maxLength: 5 }), { maxLength: 3 }), fc.boolean()),
    { minLength: 1, maxLength: 4 },
  )
  .map((all) =>
    all.map(([each, thoughts, isLate], index): Attempt => {
      return { pieces: each, thoughts, isLate, failed: index < all.length - 1 };
    }),
  );

/** Steps of a reader: how many more states and pieces there are, whether the pieces are lost, whether it restarts. */
const looks = fc.array(
  fc.record({ states: fc.nat(2), pieces: fc.nat(6), isLost: fc.boolean(), isNew: fc.boolean() }),
  { maxLength: 12 },
);

test('with any timing, loss or restart from a cursor, a reader gets the answer text exactly once', () => {
  fc.assert(
    fc.property(attempts, looks, (made, reader) => {
      const [log, states] = [logOf(made), statesOf(made)];
      const events: LiveEvent[] = [];
      let teller = new LiveTeller(ID);
      let [seen, read] = [1, 0];
      const look = (count: number, isLost: boolean): void => {
        if (!isLost) teller.add(log.slice(read, read + count));
        read += count;
        const state = states[Math.min(seen, states.length) - 1];
        if (state !== undefined) events.push(...teller.tell(state));
      };
      for (const { states: more, pieces: count, isLost, isNew } of reader) {
        if (isNew && events.length > 0) {
          teller = new LiveTeller(ID, events.at(-1)?.cursor);
          // A new reader reads the log from its beginning.
          teller.add(log.slice(0, read));
        }
        seen += more;
        look(count, isLost);
      }
      seen = states.length;
      look(log.length, false);
      expect(heldAfter(events)).toBe(made.at(-1)?.pieces.join(''));
      const starts = events.filter(({ kind }) => kind === 'stepStarted' || kind === 'planned');
      expect(starts).toHaveLength(2);
      const restarts = events.filter(({ kind }) => kind === 'restarted');
      const anew = made.filter(({ thoughts = [], isLate }) => isLate && thoughts.length > 0);
      // A new reader of the log may find texts that an earlier one lost, and that thoughts behind them make void.
      const again = reader.some(({ isLost }) => isLost) ? reader.filter(({ isNew }) => isNew) : [];
      expect(restarts.length).toBeLessThan(made.length + anew.length * (1 + again.length));
      expect(events.filter(({ kind }) => kind === 'ended')).toHaveLength(1);
      for (const [index, event] of events.entries()) {
        if (event.kind === 'text') expect(event.offset).toBe(heldAfter(events.slice(0, index)).length);
      }
    }),
    { numRuns: 500 },
  );
});

test('what the Conductor writes is told until its plan is known, each attempt from its beginning', () => {
  const trace = emptyTrace({ id: ID, runId: 'r', question: 'Why?' }) as SolveResult;
  const round = { round: 0, depth: 0, childId: null, steps: [], answer: null, decision: null };
  const planning = { ...trace, rounds: [{ ...round, plan: null }] };
  const write = (call: number, offset: number, text: string): LiveText => ({
    ...{ workflowId: ID, round: 0, step: null, callId: `call-${call}`, attempt: 1 },
    ...{ startedAt: timeOf(call), offset, text },
  });
  const teller = new LiveTeller(ID);
  teller.add([write(0, 0, 'A pl'), write(0, 4, 'an'), write(1, 0, 'Ano')]);
  const first = [...teller.tell(planning)];
  expect(first).toMatchObject([
    { kind: 'planning', round: 0, attempt: 1, offset: 0, delta: 'A pl' },
    { kind: 'planning', attempt: 1, offset: 4, delta: 'an' },
    { kind: 'planning', attempt: 2, offset: 0, delta: 'Ano' },
  ]);
  // A reader that comes back reads the log from its beginning, and a piece is lost on the way.
  const again = new LiveTeller(ID, first.at(-1)?.cursor);
  again.add([write(0, 6, ' of old'), write(1, 0, 'Ano'), write(1, 3, 'ther'), write(1, 9, '!')]);
  expect([...again.tell(planning)]).toMatchObject([
    { kind: 'planning', attempt: 2, offset: 3, delta: 'ther' },
  ]);
  again.add([write(1, 7, ' one')]);
  const planned = { ...trace, rounds: [{ ...round, plan: { steps: [] } }] };
  expect([...again.tell(planned)]).toMatchObject([{ kind: 'planned' }]);
  expect([...again.tell(planned)]).toEqual([]);
});

type Turn = NonNullable<SolveResult['rounds'][number]['steps'][number]['turns']>[number];
type ToolCall = Turn['calls'][number];

/** A call that was asked for; what came of it is in `changes`. */
const toolCall = (name: string, changes: Partial<ToolCall> = {}): ToolCall => ({
  ...{ name, arguments: '{}', output: null, outcome: null, startedAt: null, endedAt: null },
  ...changes,
});

function withTurns(state: SolveResult | undefined, ...turns: ToolCall[][]): SolveResult {
  if (state === undefined) throw new Error('there is no such state');
  const told = turns.map((calls, turn) => ({ worker: 'a', turn, calls }));
  const rounds = state.rounds.map((round) => ({
    ...round,
    steps: round.steps.map((each) => ({ ...each, turns: told })),
  }));
  return { ...state, rounds };
}

test('each call of a tool is told once as it begins and once as it ends, between the texts of its turns', () => {
  const [running, answered] = statesOf([{ pieces: ['Seven.'], failed: false }]);
  const write = (call: number, second: number, text: string): LiveText => ({
    ...{ workflowId: ID, round: 0, step: 0, callId: `call-${call}`, attempt: 1, offset: 0 },
    ...{ startedAt: timeOf(second), text },
  });
  const asked = toolCall('shelf__look_up', { arguments: `{"word":"${'é'.repeat(300)}"}` });
  const begun = { ...asked, startedAt: timeOf(2) };
  const unsent = toolCall('format_disk', { outcome: 'error', output: 'There is no such tool.' });
  const ended = { ...begun, endedAt: timeOf(4), outcome: 'ok' as const, output: 'Found.' };
  const order = toolCall('shelf__order', { startedAt: timeOf(3), endedAt: timeOf(3.5), outcome: 'unknown' });
  const place = { childId: null, round: 0, step: 0, worker: 'a', turn: 0 };

  const teller = new LiveTeller(ID);
  expect([...teller.tell(withTurns(running, [asked, order, asked]))].map(({ kind }) => kind)).toEqual([
    'planned',
    'stepStarted',
    'toolCalled',
    'toolEnded',
  ]);
  const first = [...teller.tell(withTurns(running, [begun, order, unsent]))];
  expect(first).toMatchObject([
    { kind: 'toolEnded', ...place, ordinal: 2, name: 'format_disk', outcome: 'error', ms: null },
    { kind: 'toolCalled', ...place, ordinal: 0, name: 'shelf__look_up' },
  ]);
  const shown = first[1]?.kind === 'toolCalled' ? first[1].arguments : '';
  expect(shown).toMatch(/^{"word":"é+…$/);
  expect(shown.length).toBeLessThan(250);

  // A reader that comes back reads the log from its beginning, and is told only what is new.
  const again = new LiveTeller(ID, first.at(-1)?.cursor);
  again.add([write(-1, 1, 'I look it up.'), write(0, 5, 'Seven.')]);
  const last = withTurns(
    answered,
    [ended, order, unsent],
    [{ ...order, startedAt: timeOf(6), endedAt: timeOf(6) }],
  );
  expect([...again.tell(last)]).toMatchObject([
    { kind: 'text', delta: 'I look it up.' },
    { kind: 'toolEnded', ...place, ordinal: 0, outcome: 'ok', ms: 2000 },
    { kind: 'restarted' },
    { kind: 'text', delta: 'Seven.' },
    { kind: 'toolCalled', turn: 1, name: 'shelf__order', arguments: '{}' },
    { kind: 'toolEnded', turn: 1, outcome: 'unknown', ms: 0 },
    { kind: 'stepEnded' },
  ]);
  expect([...again.tell(last)]).toEqual([]);
});

test('nothing is reported after the end', () => {
  const [, , ended] = statesOf([{ pieces: ['Eight.'], failed: false }]);
  if (ended === undefined) throw new Error('a run of one attempt ends in its third state');
  const teller = new LiveTeller(ID);
  const events = [...teller.tell(ended)];
  expect(teller.isOver).toBe(true);
  expect([...new LiveTeller(ID, events.at(-1)?.cursor).tell(ended)]).toEqual([]);
});

test('each wait is reported once, when it begins, and not again to a reader that continues from a cursor', () => {
  const running = emptyTrace({ id: ID, runId: 'r', question: 'Why?' }) as SolveResult;
  const rate = { childId: null, call: '7', until: timeOf(9) };
  const turnedAway = (attempt: number): Retry => ({ attempt, reason: 'worker a has had its requests', rate });
  const toldTo = (teller: LiveTeller, trace = running): object[] =>
    [...teller.tell(trace)].map((event) => ({ ...event, cursor: undefined }));
  const told = {
    kind: 'waiting',
    for: 'rate',
    childId: null,
    reason: turnedAway(2).reason,
    until: rate.until,
  };

  const teller = new LiveTeller(ID);
  teller.expectWaits([{ attempt: 2, reason: 'the connection was refused' }], []);
  expect(toldTo(teller)).toEqual([]);
  teller.expectWaits([turnedAway(2)], []);
  const [begun] = teller.tell({ ...running, waitsFor: 'approval' });
  expect(begun).toMatchObject({ kind: 'waiting', for: 'approval' });
  expect(toldTo(teller)).toEqual([told]);
  expect(toldTo(teller)).toEqual([]);

  // Another process continues after the approval event, before it has looked for retries.
  const other = new LiveTeller(ID, begun?.cursor);
  expect(toldTo(other, { ...running, waitsFor: 'approval' })).toEqual([]);
  other.expectWaits([turnedAway(2)], []);
  const [second] = other.tell(running);
  const third = new LiveTeller(ID, second?.cursor);
  expect(toldTo(third)).toEqual([]);
  third.expectWaits([turnedAway(2)], []);
  expect(toldTo(third)).toEqual([]);
  third.expectWaits([turnedAway(3)], []);
  expect(toldTo(third)).toEqual([told]);
});

test('a run that can no longer be followed after its reader has stopped causes no unhandled rejection', async () => {
  const waiting: SolveResult = {
    ...(emptyTrace({ id: ID, runId: 'r', question: 'Why?' }) as SolveResult),
    waitsFor: 'approval',
  };
  const gone = new Error('the connection was closed');
  const states = {
    next: jest.fn().mockRejectedValue(gone).mockResolvedValueOnce({ value: waiting }),
  } as unknown as AsyncGenerator<SolveResult>;
  const { client } = {} as { client: Client };
  const sources = {
    id: ID,
    client,
    watch: () => states,
    store: null,
    retries: () => Promise.resolve([]),
  };
  const run = streamRun(sources);
  const unhandled = jest.fn();
  process.on('unhandledRejection', unhandled);
  expect((await run.next()).value).toMatchObject({ kind: 'waiting' });
  await nextTurn();
  process.off('unhandledRejection', unhandled);
  expect(unhandled).not.toHaveBeenCalled();
  await expect(run.next()).rejects.toBe(gone);
});

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadDataConverter } from '@temporalio/common/lib/internal-non-workflow';
import { historyFromJSON } from '@temporalio/common/lib/proto-utils';
import { TestWorker } from '../support/test-worker';
import { HistoryDecoder } from '../../src/client';
import { TraceReader } from '../../src/client/trace-reader';
import type { SolveTrace } from '../../src';
import type { StepTrace } from '../../src/protocol/solve';
import { workflowBundle } from '../support/temporal';
import { withoutTimes } from '../support/without-times';
import { EVALUATION_SHAPES } from './evaluations/shapes';
import { NIGHT_SHAPES } from './nights/shapes';
import { SHAPES } from './shapes';

/** Returns the names of the histories in a folder. */
function namesIn(folder: string): string[] {
  return readdirSync(join(__dirname, folder)).map((file) => file.replace(/\.json$/, ''));
}

function read(name: string, folder = 'histories'): unknown {
  return JSON.parse(readFileSync(join(__dirname, folder, `${name}.json`), 'utf8'));
}

function replay(history: unknown, workflowId?: string): Promise<void> {
  return TestWorker.runReplayHistory({ workflowBundle: workflowBundle() }, history, workflowId);
}

const names = namesIn('histories');

test.each<[string, object]>([
  ['histories', SHAPES],
  ['nights/histories', NIGHT_SHAPES],
  ['evaluations/histories', EVALUATION_SHAPES],
])('every shape has a history in %s, and every history a shape', (folder, shapes) => {
  expect(namesIn(folder).sort()).toEqual(Object.keys(shapes).sort());
});

test.each(namesIn('nights/histories'))(
  'the history of a night, %s, replays on the current workflow code',
  (name) => replay(read(name, 'nights/histories')),
);

test.each(namesIn('evaluations/histories'))(
  'the history of an evaluation, %s, replays on the current workflow code',
  (name) =>
    // The ids of children are made of it.
    replay(
      read(name, 'evaluations/histories'),
      `eval-${name}${EVALUATION_SHAPES[name]?.ofQuestion === true ? '-1' : ''}`,
    ),
);

describe.each(names)('the history of a run that is %s', (name) => {
  // The ids of children are made of it.
  const workflowId = `${name}${SHAPES[name]?.child ?? ''}`;

  test('replays on the current workflow code', async () => {
    await replay(read(name), workflowId);
  });

  test('gives the same trace as the run itself, even without its last event', async () => {
    const reader = new TraceReader(workflowId, new HistoryDecoder(loadDataConverter()));
    const events = historyFromJSON(read(name)).events ?? [];
    for (const event of events.slice(0, -1)) await reader.read(event);
    const told = reader.trace;
    for (const event of events.slice(-1)) await reader.read(event);

    expect(told.status).toBe('running');
    expect(reader.trace.status).not.toBe('running');
    expect(withoutTimes(withoutEnd(told))).toMatchObject(withoutTimes(withoutEnd(reader.trace)));
  });
});

test.each([
  ['stopped-by-calls', 'calls', 2],
  ['fits-to-the-call', null, 3],
  ['fits-to-the-token', null, 2],
  ['stopped-by-a-token', 'tokens', 1],
  ['fits-to-the-nano-usd', null, 2],
  ['stopped-by-a-nano-usd', 'cost', 0],
])('the run %s ended exactly where its limit says', async (name, stoppedBy, answered) => {
  const reader = new TraceReader(name, new HistoryDecoder(loadDataConverter()));
  for (const event of historyFromJSON(read(name)).events ?? []) await reader.read(event);
  const { trace } = reader;
  expect(trace.stoppedBy).toBe(stoppedBy);
  expect(
    trace.rounds[0]?.steps.filter(({ error, output }) => error === null && output !== null),
  ).toHaveLength(answered);
});

/** Returns a trace without what only the end of the run decides or reports. */
function withoutEnd(trace: SolveTrace): object {
  const rounds = trace.rounds.map((round) => ({
    ...round,
    steps: round.steps.filter(isInHistory),
    answer: null,
    decision: null,
  }));
  const ends = {
    status: null,
    endedAt: null,
    answer: null,
    answerCut: null,
    error: null,
    degraded: null,
    stoppedBy: null,
    spentAtMost: null,
  };
  return { ...trace, ...ends, rounds };
}

/** Whether a step is in the history; a step refused by a limit left no event. */
function isInHistory({ startedAt, output, error }: StepTrace): boolean {
  return (startedAt !== null || output !== null) && error?.type.startsWith('Limit.') !== true;
}

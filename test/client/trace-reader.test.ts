import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { defaultPayloadConverter } from '@temporalio/common';
import { loadDataConverter } from '@temporalio/common/lib/internal-non-workflow';
import { historyFromJSON } from '@temporalio/common/lib/proto-utils';
import fc from 'fast-check';
import { HistoryDecoder, type TemporalEvent } from '../../src/client/history';
import { TraceReader } from '../../src/client/trace-reader';
import type { SolveTrace, WorkerRequest } from '../../src';
import { SOLVE_PART_WORKFLOW } from '../../src/protocol/names';
import { solveTraceSchema } from '../../src/protocol/solve';
import { renderTraceMarkdown } from '../../src/trace/markdown';
import { externalCard, modelCard, runOf } from '../budget/cards';
import { hostileText } from '../support/hostile-text';
import { MEGABYTE, tries } from '../support/thorough';

const APPROVED = join(__dirname, '../replay/histories/approved.json');

/** Returns a reader's traces, one after each event of a history. */
async function readTraces(file: string): Promise<SolveTrace[]> {
  const reader = new TraceReader('approved', new HistoryDecoder(loadDataConverter()));
  const { events } = historyFromJSON(JSON.parse(readFileSync(file, 'utf8')));
  const traces: SolveTrace[] = [];
  for (const event of events ?? []) {
    await reader.read(event);
    traces.push(reader.trace);
  }
  return traces;
}

test('a plan waits for approval only once the run has processed it', async () => {
  const traces = await readTraces(APPROVED);
  const planned = traces.findIndex(({ rounds }) => rounds.some(({ plan }) => plan !== null));
  const waiting = traces.findIndex(({ waitsFor }) => waitsFor === 'approval');
  // The plan comes with the end of the Conductor's call; the workflow task that reads it ends three events later, and
  // starts the deadline.
  expect(planned).toBeGreaterThan(0);
  expect(waiting - planned).toBe(4);
});

test('foreign content of any length in a history is omitted or shown, and breaks nothing', async () => {
  await fc.assert(
    fc.asyncProperty(foreign, foreign, foreign, hostile, async (input, childInput, result, message) => {
      const reader = new TraceReader('run', new HistoryDecoder(loadDataConverter()));
      for (const event of foreignHistory(input, childInput, result, message)) await reader.read(event);
      expect(solveTraceSchema.safeParse(reader.trace).error).toBeUndefined();
      expect(renderTraceMarkdown(reader.trace).length).toBeLessThan(8 * MEGABYTE);
    }),
    { numRuns: tries(50) },
  );
});

const hostile = hostileText(['{"', '\\u', '\ud800', '|', '\u001b[2J', '\n', '`', '> ', ' ']);
const card = externalCard('own');
const parent = {
  rootId: 'root',
  depth: 1,
  round: 1,
  background: [],
  hints: [],
  run: runOf([modelCard('a'), card]),
};

/** An input or a result that only looks like one of ours. */
const foreign = fc.oneof(
  fc.jsonValue(),
  hostile,
  hostile.map((text) => ({ question: text, parent, answer: text, text })),
  fc.jsonValue().map((run) => ({ question: 'Who?', parent: { ...parent, run } })),
  fc.jsonValue().map((given) => ({ question: 'Who?', approval: 'plan', given })),
  fc.jsonValue().map((usage) => ({ text: 'Yes.', usage, status: 'completed', rounds: [usage] })),
);

function foreignHistory(
  input: unknown,
  childInput: unknown,
  result: unknown,
  message: string,
): TemporalEvent[] {
  const request: WorkerRequest = {
    rootId: 'run',
    question: 'Who?',
    subtask: message,
    sees: [],
    round: 0,
    step: 0,
    worker: card,
  };
  const failure = { message, applicationFailureInfo: { type: message, details: payloadsOf(result) } };
  const events = [
    { workflowExecutionStartedEventAttributes: { originalExecutionRunId: 'r', input: payloadsOf(input) } },
    { workflowTaskStartedEventAttributes: {} },
    {
      activityTaskScheduledEventAttributes: {
        activityType: { name: 'research' },
        input: payloadsOf(request),
      },
    },
    { activityTaskCompletedEventAttributes: { scheduledEventId: 3, result: payloadsOf(result) } },
    {
      activityTaskScheduledEventAttributes: { activityType: { name: 'own' }, input: payloadsOf(childInput) },
    },
    {
      startChildWorkflowExecutionInitiatedEventAttributes: {
        workflowType: { name: SOLVE_PART_WORKFLOW },
        workflowId: 'child',
        input: payloadsOf(childInput),
      },
    },
    { childWorkflowExecutionFailedEventAttributes: { initiatedEventId: 6, failure } },
    { workflowExecutionFailedEventAttributes: { failure } },
  ];
  return events.map(
    (attributes, index) => ({ eventId: index + 1, ...attributes }) as unknown as TemporalEvent,
  );
}

function payloadsOf(value: unknown): object {
  return { payloads: [defaultPayloadConverter.toPayload(value)] };
}

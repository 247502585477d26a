import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadDataConverter } from '@temporalio/common/lib/internal-non-workflow';
import { historyFromJSON } from '@temporalio/common/lib/proto-utils';
import { HistoryDecoder } from '../../src/client/history';
import { TraceReader } from '../../src/client/trace-reader';
import type { SolveTrace } from '../../src/protocol/solve';

const APPROVED = join(__dirname, '../replay/histories/approved.json');

/** The traces that a reader tells, one after each event of a history. */
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

test('a plan waits when its run has taken it up, and no sooner: until then a verdict is refused', async () => {
  const traces = await readTraces(APPROVED);
  const planned = traces.findIndex(({ rounds }) => rounds.some(({ plan }) => plan !== null));
  const waiting = traces.findIndex(({ waitsFor }) => waitsFor === 'approval');
  // The plan comes with the end of the Conductor's call; the workflow task that reads it ends three events later.
  expect(planned).toBeGreaterThan(0);
  expect(waiting - planned).toBe(3);
});

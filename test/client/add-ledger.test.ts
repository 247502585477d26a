import { join } from 'node:path';
import { addLedger } from '../../src/client/run-tree';
import type { Call, SolveTrace } from '../../src';
import { callOf, createRow, type LedgerRow } from '../../src/store/ledger';
import { SqliteStore } from '../../src/store/sqlite-store';
import { emptyTrace } from '../../src/trace/reduce';
import { freshFolder } from '../local/fresh-folder';
import { aRow } from '../support/ledger-of';

const ROW = aRow({ step: 1, worker: 'sol', model: 'gpt-6-sol' });
const PRESUMED: Call = { ...callOf(ROW), callId: 'presumed/0/1/sol', usage: null, nanoUsd: null };

let folder: string;
let store: SqliteStore;
beforeEach(async () => {
  folder = await freshFolder();
  store = new SqliteStore(join(folder, 'store.db'));
});

const EMPTY = emptyTrace({ id: 'solve-1', runId: 'run-1', question: 'Why?' });

async function callsOf(calls: Call[], ...rows: readonly LedgerRow[]): Promise<SolveTrace> {
  for (const row of rows) await createRow(store, row);
  return addLedger({ ...EMPTY, calls }, store);
}

test('a row that the run was never told of is added to its calls and its sum', async () => {
  const late = { ...ROW, attempt: 2 };
  const trace = await callsOf([callOf(ROW)], ROW, late);
  expect(trace.calls).toEqual([callOf(ROW), callOf(late)]);
  expect(trace).toMatchObject({ usage: { calls: 2 }, costUsd: 0.00014, costIsLowerBound: false });
});

test('a call that was completed after the run was told of it has the cost of its row', async () => {
  const trace = await callsOf([{ ...callOf(ROW), usage: null, nanoUsd: null }], ROW);
  expect(trace).toMatchObject({ calls: [callOf(ROW)], costUsd: 0.00007, costIsLowerBound: false });
});

test('a reply that was not a plan keeps its error when its row is added', async () => {
  const mistake = { type: 'Plan.Invalid', message: 'The reply holds no plan' };
  const row = { ...ROW, nanoUsd: null };
  const trace = await callsOf([{ ...callOf(row), error: mistake }], row);
  expect(trace.calls).toEqual([{ ...callOf(row), error: mistake }]);
});

test('a presumed call is replaced by the rows of its step, or removed if there are none', async () => {
  expect((await callsOf([PRESUMED], ROW)).calls).toEqual([callOf(ROW)]);
  expect(
    await addLedger({ ...EMPTY, calls: [{ ...PRESUMED, step: 2 }] }, new SqliteStore(join(folder, 'empty'))),
  ).toEqual({ ...EMPTY, calls: [], costIsLowerBound: false });
});

test("an unpriced call of the user's own worker stays without a row, and so do the calls of children", async () => {
  const external = { ...PRESUMED, callId: 'external.0.2.own', worker: 'own', step: 2 };
  const ofChild = { ...PRESUMED, childId: 'solve-1-r0s0' };
  const trace = await callsOf([external, ofChild], ROW);
  expect(trace.calls).toEqual([external, callOf(ROW), ofChild]);
  expect(trace.costIsLowerBound).toBe(true);
});

test('a trace that knows every call is returned unchanged, without reading any row', async () => {
  await createRow(store, ROW);
  const trace = { ...EMPTY, calls: [callOf(ROW)] };
  store.read = () => Promise.reject(new Error('It must not be read.'));
  expect(await addLedger(trace, store)).toBe(trace);
});

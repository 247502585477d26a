import { join } from 'node:path';
import { closeRow, openRow, openRowOf, type AttemptOutcome } from '../../src/activities/ledger-row';
import type { ModelCall } from '../../src/activities/model-call';
import { SqliteStore } from '../../src/store/sqlite-store';
import { freshFolder } from '../local/fresh-folder';
import { rowsOfRun } from '../support/ledger-of';
import { aCard } from './models/ask';

const usage = { inputTokens: 10, outputTokens: 5, cachedInputTokens: 0, reasoningTokens: 0 };
const info = { workflowExecution: { workflowId: 'solve-1-child', runId: 'run-1' } };

function aCall(changes: Partial<ModelCall> = {}): ModelCall {
  return {
    purpose: 'step',
    round: 0,
    step: 0,
    worker: 'ada',
    card: aCard({ price: { input: 2, output: 10, tiers: { flex: 0.5 } }, priceVersion: 'table-1' }),
    messages: [],
    maxOutputTokens: 100,
    timeoutMs: 1000,
    rootId: 'solve-1',
    allowance: { requests: 5, billable: 5 },
    ...changes,
  };
}

async function openedRow(call: ModelCall) {
  const store = new SqliteStore(join(await freshFolder(), 'store.db'));
  const row = await openRow(store, openRowOf(call, 'c'.repeat(64), info), 1);
  if (row === null) throw new Error('The row was there already.');
  return { store, row };
}

test('a row that is there is left alone, whoever wants its number', async () => {
  const { store, row } = await openedRow(aCall());
  const again = await openRow(store, openRowOf(aCall({ worker: 'bob' }), row.callId, info), 1);
  expect(again).toBeNull();
  expect(await rowsOfRun(store, 'run-1')).toEqual([row]);
});

test('a row is there before its request: open, of unknown cost, under the root of its tree', async () => {
  const { store, row } = await openedRow(aCall());
  expect(await rowsOfRun(store, 'run-1')).toEqual([row]);
  expect(row).toMatchObject({ rootId: 'solve-1', workflowId: 'solve-1-child', priceVersion: 'table-1' });
  expect(row).toMatchObject({ usage: null, nanoUsd: null, endedAt: null });
});

describe('a request that is over costs', () => {
  const error = { type: 'Provider.Refused', message: 'declined' };
  test.each<[string, Partial<AttemptOutcome>, number | null]>([
    ['what its usage comes to', { usage }, 70_000],
    ['what the provider says, where it says so', { usage, reportedNanoUsd: 40_000 }, 40_000],
    ['the same when it failed and was billed', { usage, error }, 70_000],
    ['nothing when the provider surely took nothing', { error, billed: 'no' }, 0],
    ['an unknown sum when it may have been billed', { error, billed: 'unknown' }, null],
    ['what the provider says even then', { error, billed: 'unknown', reportedNanoUsd: 123 }, 123],
    ['an unknown sum when nobody counted the tokens', {}, null],
    ['the price of its service tier', { usage: { ...usage, serviceTier: 'flex' } }, 35_000],
    ['an unknown sum in a tier without a price', { usage: { ...usage, serviceTier: 'priority' } }, null],
  ])('%s', async (_, outcome, nanoUsd) => {
    const call = aCall();
    const { row } = await openedRow(call);
    const closed = closeRow(row, call, {
      error: null,
      usage: null,
      billed: 'yes',
      reportedNanoUsd: null,
      ...outcome,
    });
    expect(closed.nanoUsd).toBe(nanoUsd);
    expect(closed.endedAt).not.toBeNull();
  });
});

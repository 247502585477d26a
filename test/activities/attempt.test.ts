import { closeRow, openRowOf } from '../../src/activities/ledger-row';
import type { ProviderFailure } from '../../src/activities/models/failure';
import { FAILURES } from '../../src/protocol/failures';
import type { ModelReply } from '../../src/activities/models/model';
import { createRow } from '../../src/store/ledger';
import { freshStore } from '../local/fresh-folder';
import { rowsOfRun } from '../support/ledger-of';
import { aCall, aCard, NOTHING } from './models/ask';
import { usage } from './one-call';

const info = { workflowExecution: { workflowId: 'solve-1-child', runId: 'run-1' } };

const CALL = aCall(aCard({ price: { input: 2, output: 10, tiers: { flex: 0.5 } }, priceVersion: 'table-1' }));

async function openedRow() {
  const store = await freshStore();
  const row = { ...openRowOf(CALL, 'c'.repeat(64), info), attempt: 1, startedAt: new Date().toISOString() };
  expect(await createRow(store, row)).toBe(true);
  return { store, row };
}

test('a row is opened before its request, with unknown cost, and another claim to its number cannot overwrite it', async () => {
  const { store, row } = await openedRow();
  expect(await createRow(store, { ...row, worker: 'bob' })).toBe(false);
  expect(await rowsOfRun(store, 'run-1')).toEqual([row]);
  expect(row).toMatchObject({ rootId: 'solve-1', workflowId: 'solve-1-child', priceVersion: 'table-1' });
  expect(row).toMatchObject({ usage: null, nanoUsd: null, endedAt: null });
});

type Billed = ProviderFailure['billed'];

describe('a finished request costs', () => {
  test.each<[string, Billed | null, Partial<ModelReply>, number | null]>([
    ['what its usage comes to', null, { usage }, 70_000],
    ['what the provider says, where it says so', null, { usage, reportedNanoUsd: 40_000 }, 40_000],
    ['the same when it failed and was billed', 'yes', { usage }, 70_000],
    ['nothing when the provider surely took nothing', 'no', {}, 0],
    ['an unknown sum when it may have been billed', 'unknown', {}, null],
    ['what the provider says even then', 'unknown', { reportedNanoUsd: 123 }, 123],
    ['an unknown sum when nobody counted the tokens', null, {}, null],
    ['the price of its service tier', null, { usage: { ...usage, serviceTier: 'flex' } }, 35_000],
    ['an unknown sum in an unpriced tier', null, { usage: { ...usage, serviceTier: 'priority' } }, null],
  ])('%s', async (_, billed, changes, nanoUsd) => {
    const { row } = await openedRow();
    const reply = { ...NOTHING, ...changes };
    const declined = { type: FAILURES.refused, message: 'declined', retryable: false } as const;
    const failure = billed && { ...declined, billed, health: 'good' as const };
    const closed = closeRow(
      row,
      CALL,
      failure ? { kind: 'failed', failure, reply } : { kind: 'answered', reply },
    );
    expect(closed.nanoUsd).toBe(nanoUsd);
    expect(closed.endedAt).not.toBeNull();
  });
});

import { join } from 'node:path';
import { closeRow, openRow, openRowOf } from '../../src/activities/ledger-row';
import type { CallFailure } from '../../src/activities/models/failure';
import { FAILURES } from '../../src/protocol/failures';
import type { ModelReply } from '../../src/activities/models/model';
import type { ModelCall } from '../../src/activities/model-call';
import { SqliteStore } from '../../src/store/sqlite-store';
import { freshFolder } from '../local/fresh-folder';
import { rowsOfRun } from '../support/ledger-of';
import { aCard, NOTHING } from './models/ask';

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

test('a row is there before its request: open, of unknown cost, and left alone whoever wants its number', async () => {
  const { store, row } = await openedRow(aCall());
  const again = await openRow(store, openRowOf(aCall({ worker: 'bob' }), row.callId, info), 1);
  expect(again).toBeNull();
  expect(await rowsOfRun(store, 'run-1')).toEqual([row]);
  expect(row).toMatchObject({ rootId: 'solve-1', workflowId: 'solve-1-child', priceVersion: 'table-1' });
  expect(row).toMatchObject({ usage: null, nanoUsd: null, endedAt: null });
});

type Billed = CallFailure['billed'];

describe('a request that is over costs', () => {
  test.each<[string, Billed | null, Partial<ModelReply>, number | null]>([
    ['what its usage comes to', null, { usage }, 70_000],
    ['what the provider says, where it says so', null, { usage, reportedNanoUsd: 40_000 }, 40_000],
    ['the same when it failed and was billed', 'yes', { usage }, 70_000],
    ['nothing when the provider surely took nothing', 'no', {}, 0],
    ['an unknown sum when it may have been billed', 'unknown', {}, null],
    ['what the provider says even then', 'unknown', { reportedNanoUsd: 123 }, 123],
    ['an unknown sum when nobody counted the tokens', null, {}, null],
    ['the price of its service tier', null, { usage: { ...usage, serviceTier: 'flex' } }, 35_000],
    [
      'an unknown sum in a tier without a price',
      null,
      { usage: { ...usage, serviceTier: 'priority' } },
      null,
    ],
  ])('%s', async (_, billed, changes, nanoUsd) => {
    const call = aCall();
    const { row } = await openedRow(call);
    const reply = { ...NOTHING, ...changes };
    const failure = billed && { type: FAILURES.refused, message: 'declined', retryable: false, billed };
    const ended = failure
      ? ({ kind: 'failed', failure, reply } as const)
      : ({ kind: 'answered', reply } as const);
    const closed = closeRow(row, call, ended);
    expect(closed.nanoUsd).toBe(nanoUsd);
    expect(closed.endedAt).not.toBeNull();
  });
});

import type { Keeping } from '../../research/support/worker';
import { FAILURES } from '../../src/protocol/failures';
import type { LiveEvent, SolveResult } from '../../src';
import type { LedgerRow } from '../../src/store/ledger';
import type { RequestRecord } from '../../src/testing';
import { audit } from './audit';
import type { Evidence } from './evidence';
import { aRow, OPEN as UNDER_WAY } from '../support/ledger-of';

// A clean run of one solve with one call. Each test spoils one thing, and the audit must find just that.

const ID = 'chaos-1-1';
const BEGAN = Date.parse('2026-01-01T12:00:00.000Z');
const MEGABYTE = 1024 * 1024;

const at = (ms: number): string => new Date(BEGAN + ms).toISOString();
const usage = { inputTokens: 10, outputTokens: 5, cachedInputTokens: 0, reasoningTokens: 0 };

const ROW = aRow({
  rootId: ID,
  workflowId: ID,
  runId: 'run',
  purpose: 'plan',
  step: null,
  worker: 'conductor',
  model: 'conductor',
  usage,
  startedAt: at(0),
  endedAt: at(1000),
});
const OPEN: LedgerRow = { ...ROW, ...UNDER_WAY };

const REQUEST: RequestRecord = {
  sequence: 1,
  protocol: 'openai-chat',
  model: 'conductor',
  path: '/v1/chat/completions',
  headers: {},
  body: `{"model":"conductor","messages":[{"role":"user","content":"Question ${ID}: why?"}]}`,
  receivedAt: BEGAN + 10,
  respondedAt: BEGAN + 900,
  outcome: 'answered',
  usage,
  nanoUsd: 70_000,
};

function runWith(rows: readonly LedgerRow[], changes: Partial<SolveResult> = {}): SolveResult {
  const amounts = rows.map(({ nanoUsd }) => nanoUsd);
  return {
    id: ID,
    runId: 'run',
    status: 'completed',
    question: 'why?',
    answer: 'because',
    degraded: false,
    stoppedBy: null,
    error: null,
    checkpoint: null,
    rounds: [],
    calls: rows.map((row) => ({ ...row })),
    usage: { inputTokens: 10, outputTokens: 5, calls: rows.length },
    costUsd: amounts.reduce<number>((sum, amount) => sum + (amount ?? 0), 0) / 1e9,
    costIsLowerBound: amounts.includes(null),
    ...changes,
  };
}

/** Returns the evidence of a run whose ledger holds these rows. */
function left(rows: readonly LedgerRow[], changes: Partial<Evidence> = {}): Evidence {
  const memory = { rss: 200 * MEGABYTE, heapUsed: 40 * MEGABYTE };
  return {
    runs: new Map([[ID, runWith(rows)]]),
    requests: [REQUEST],
    rows,
    keepings: [{ callId: ROW.callId, attempt: 1, what: 'answer', at: BEGAN + 950 }],
    limits: [],
    kills: [{ victim: 'worker', at: BEGAN + 2000 }],
    plannedKills: 1,
    memory: { before: memory, after: memory },
    broken: [],
    ...changes,
  };
}

const withRun = (changes: Partial<SolveResult>): Evidence =>
  left([ROW], { runs: new Map([[ID, runWith([ROW], changes)]]) });

test('a clean run has no findings', () => {
  expect(audit(left([ROW]))).toEqual([]);
});

test('a run whose worker was killed in mid-call has no findings, nor has one that failed as documented', () => {
  expect(audit(left([OPEN], { keepings: [] }))).toEqual([]);
  const error = { type: FAILURES.noAnswer, message: 'no step gave an answer' };
  expect(audit(withRun({ status: 'failed', answer: null, error }))).toEqual([]);
});

const ID_KEPT: Keeping = { callId: ROW.callId, attempt: 1, what: 'background id', at: BEGAN + 100 };

test('a run that was cancelled while its answer was written in the background has no findings about rows', () => {
  const kills = [{ victim: 'server', at: BEGAN + 2000 }] as const;
  const runs = new Map([[ID, runWith([OPEN], { status: 'cancelled', answer: null })]]);
  const findings = audit(left([OPEN], { kills, runs, keepings: [ID_KEPT] }));
  expect(findings.filter(({ law }) => law.includes('row'))).toEqual([]);
});

test('a run that asks again after its background answer failed has no findings', () => {
  const failed = {
    ...ROW,
    error: { type: FAILURES.unavailable, message: 'it failed' },
    usage: null,
    nanoUsd: 0,
  };
  const begun = { ...REQUEST, usage: null, nanoUsd: 0 };
  const second = { ...ROW, attempt: 2, startedAt: at(1500), endedAt: at(1900) };
  const asked = { ...REQUEST, sequence: 2, receivedAt: BEGAN + 1600 };
  const look = { ...REQUEST, sequence: 3, path: '/v1/responses/resp_1', body: '', nanoUsd: 0 };
  const requests = [begun, asked, look];
  expect(audit(left([failed, second], { keepings: [ID_KEPT], requests }))).toEqual([]);
});

test('a request that the provider read long after the worker gave it up has its row by its name', () => {
  const failed = {
    ...ROW,
    error: { type: FAILURES.timeout, message: 'too late' },
    usage: null,
    nanoUsd: null,
  };
  const headers = { 'x-client-request-id': ROW.callId };
  const late = { ...REQUEST, headers, receivedAt: BEGAN + 9000 };
  expect(audit(left([failed], { requests: [late], keepings: [] }))).toEqual([]);
});

const PLACE = { childId: null, round: 0, step: 0 };
const STEP = { ...PLACE, attempt: 1, offset: 0, delta: 'because', kind: 'text' } as const;

/** Returns the evidence of a reader that recorded these events of a run with one step, whose output is `because`. */
function heardOf(...events: readonly object[]): Evidence {
  const step = { index: 0, output: 'because', error: null };
  const rounds = [{ childId: null, round: 0, steps: [step] }] as unknown as SolveResult['rounds'];
  const heard = events.map((event) => ({ id: ID, event: event as LiveEvent }));
  return { ...withRun({ rounds }), heard };
}

const [STARTED, STEP_ENDED, ENDED] = [
  { kind: 'stepStarted', ...PLACE },
  { kind: 'stepEnded', ...PLACE },
  { kind: 'ended' },
];
const RESTARTED = { kind: 'restarted', ...PLACE, attempt: 2 };

test('a stream that resumes where it was, or starts an attempt anew, has no findings', () => {
  const parts = [
    { ...STEP, delta: 'be' },
    { ...STEP, offset: 2, delta: 'cause' },
  ];
  expect(audit(heardOf(STARTED, ...parts, STEP_ENDED, ENDED))).toEqual([]);
  const second = { ...STEP, attempt: 2 };
  expect(audit(heardOf(STARTED, parts[0] ?? {}, RESTARTED, second, STEP_ENDED, ENDED))).toEqual([]);
});

const again = (startedAt: string): LedgerRow => ({ ...OPEN, attempt: 2, startedAt });

test.each<[string, Evidence, RegExp]>([
  ['a lost run', left([ROW], { runs: new Map([[ID, null]]) }), /lost/],
  ['a cancelled run', withRun({ status: 'cancelled', answer: null }), /cancelled/],
  ['a completed run without an answer', withRun({ answer: ' ' }), /without an answer/],
  [
    'a failure of no documented type',
    withRun({ status: 'failed', answer: null, error: { type: 'TypeError', message: 'x' } }),
    /TypeError/,
  ],
  [
    'a trace that knows less than the ledger',
    left([ROW], { runs: new Map([[ID, runWith([OPEN])]]) }),
    /unknown in the trace/,
  ],
  [
    'a request without a row',
    left([ROW], { requests: [REQUEST, { ...REQUEST, sequence: 2 }] }),
    /request 2 .+ has no row/,
  ],
  [
    'a request that names the call of no row',
    left([ROW], { requests: [{ ...REQUEST, headers: { 'x-client-request-id': 'other' } }] }),
    /request 1 .+ has no row/,
  ],
  ['a row that names another amount', left([{ ...ROW, nanoUsd: 69_999 }]), /has no row.+69999/],
  [
    'a row that is open though nobody was killed',
    left([OPEN], { keepings: [], kills: [{ victim: 'server', at: BEGAN + 2000 }] }),
    /is open, and no worker was killed/,
  ],
  ['a call made again after its answer was kept', left([ROW, again(at(19_000))]), /begun again as attempt 2/],
  [
    'a second attempt beside a live one',
    left([OPEN, again(at(1500))], { keepings: [], kills: [{ victim: 'providers', at: BEGAN + 1000 }] }),
    /attempt 2 began .+ before attempt 1 was over/,
  ],
  [
    'a call made again after its background id was kept',
    left([OPEN, again(at(19_000))], {
      keepings: [ID_KEPT],
    }),
    /its background id had been kept/,
  ],
  [
    'a rate that was exceeded, by less than a minute',
    left([ROW], {
      limits: [{ model: 'conductor', what: 'requests in 60 s', most: 1 }],
      requests: [REQUEST, { ...REQUEST, sequence: 2, receivedAt: REQUEST.receivedAt + 59_999 }],
    }),
    /conductor had 2 requests in 60 s, and 1 are allowed/,
  ],
  ['a trace with another sum', withRun({ costUsd: 1 }), /the trace says \$1/],
  [
    'a lower bound that is called exact',
    left([OPEN], { keepings: [], runs: new Map([[ID, runWith([OPEN], { costIsLowerBound: false })]]) }),
    /calls its sum exact/,
  ],
  [
    'memory that stays',
    left([ROW], {
      memory: {
        before: { rss: 200 * MEGABYTE, heapUsed: 40 * MEGABYTE },
        after: { rss: 200 * MEGABYTE, heapUsed: 140 * MEGABYTE },
      },
    }),
    /heapUsed was 40 MB, and is 140 MB/,
  ],
  [
    'a text that was told twice',
    heardOf(STARTED, STEP, STEP, STEP_ENDED, ENDED),
    /text at 1\/0 follows 1\/7/,
  ],
  [
    'a text that was left out',
    heardOf(STARTED, { ...STEP, offset: 2, delta: 'cause' }, STEP_ENDED, ENDED),
    /text at 1\/2 follows 1\/0/,
  ],
  [
    'a text that ends too soon',
    heardOf(STARTED, { ...STEP, delta: 'be' }, STEP_ENDED, ENDED),
    /2 characters/,
  ],
  [
    'an attempt that was left out',
    heardOf({ ...RESTARTED, attempt: 3 }, ENDED),
    /attempt 3 follows attempt 1/,
  ],
  ['a text after its step', heardOf(STEP, STEP_ENDED, { ...STEP, offset: 7 }, ENDED), /text after its end/],
  ['a step that was told twice', heardOf(STARTED, STARTED, STEP, ENDED), /stepStarted.+ was told twice/],
  ['a stream that has no end', heardOf(STARTED, STEP, STEP_ENDED), /0 ends/],
  ['a stream that goes on after its end', heardOf(STEP, ENDED, STEP_ENDED), /the last event is stepEnded/],
  ['a worker that broke down', left([ROW], { broken: ['a worker ended by itself with code 1'] }), /code 1/],
  ['a script that was not played to its end', left([ROW], { plannedKills: 2 }), /1 did not/],
])('%s is found', (_, evidence, difference) => {
  expect(
    audit(evidence)
      .map((finding) => finding.difference)
      .join('\n'),
  ).toMatch(difference);
});

import type { Store } from '../../src';
import type { ResolvedRun } from '../../src/protocol/cards';
import {
  type EvaluatedQuestion,
  evaluationManifestKey,
  questionSetKey,
  resultKey,
} from '../../src/evaluation/contract';
import type { EvaluationManifest } from '../../src/evaluation/definitions';
import { keepLines, writeRecord } from '../../src/store/records';
import { type LedgerRow, writeRow } from '../../src/store/ledger';
import { closeNight } from '../../src/training/activities/close-cycle';
import { judgeCandidate } from '../../src/training/activities/judge';
import { advanceRun, keepGroup, writeNight } from '../../src/training/activities/records';
import { type CheckpointRef, checkpointId } from '../../src/training/names';
import { writeManifest } from '../../src/training/policy/serving';
import { metricsKey } from '../../src/training/store-keys';
import { aRecord } from '../evaluation/a-record';
import { aManifest } from './a-manifest';
import { aRow, OPEN } from './ledger-of';
import { groupOf } from '../training/activities/group-records';
import { madeUpCycles } from '../report/made-up-cycles';
import { aRollout } from '../cli/train/show/a-group';
import { aNight } from '../training/client/keep-run';

// Records of nights, evaluations and calls, stored by the product's own functions.

const RUN = { trainRun: 'nightly' } as const;
const CYCLES = 8;

const QUESTIONS: EvaluatedQuestion[] = Array.from({ length: 24 }, (_, index) => ({
  id: `q${index}`,
  question: index === 1 ? 'كم عدد أرجل العنكبوت؟' : `How many legs have ${index} spiders? <b>Count</b>.`,
  grader: 'exact',
  answer: String(8 * index),
  source: index < 16 ? 'MATH-500' : 'AIME',
}));

/** Stores two nights of four cycles; the second one's checkpoint was tried against the first one's. */
export async function keepNights(store: Store): Promise<void> {
  const { key: set } = await keepLines(store, QUESTIONS, questionSetKey);
  const train = { set, count: QUESTIONS.length, topics: [QUESTIONS.length] };
  const heldOut = { set, count: QUESTIONS.length };
  const [before, after] = [named(4), named(CYCLES)];
  for (const checkpoint of [before, after]) await writeManifest(store, aManifest(checkpoint));
  for (const cycle of madeUpCycles(CYCLES, RUN))
    await writeRecord(store, metricsKey('nightly', cycle.cycle), cycle);
  for (const group of groupsOfLastCycle()) await keepGroup(store, group);
  const tried = async (policy: CheckpointRef, reward: number) => {
    const groups = Array.from({ length: 12 }, (_, draw) => {
      const rewards = [reward, draw % 3 === 0 ? 0.5 : reward];
      const own = { ...RUN, purpose: 'evaluation', cycle: CYCLES, checkpoint: checkpointId(policy) } as const;
      return keepGroup(store, groupOf(draw, rewards, own));
    });
    return { policy, groups: await Promise.all(groups) };
  };
  const { sentence } = await judgeCandidate(store, {
    ...RUN,
    looks: 0,
    date: '2026-11-21',
    maxCostRatio: 1.5,
    margin: 0.01,
    heldOut: set,
    candidate: await tried(after, 1),
    baseline: await tried(before, 0.5),
  });
  const night = (date: string, first: number, checkpoint: CheckpointRef, decision: string | null) =>
    writeNight(
      store,
      aNight({
        date,
        first,
        last: first + 3,
        done: first + 3,
        checkpoint,
        train,
        heldOut,
        openedAt: `${date}T02:30:00.000Z`,
        closedAt: `${date}T05:00:00.000Z`,
        decision,
      }),
    );
  await night('2026-11-20', 1, before, null);
  await night('2026-11-21', 5, after, sentence);
  await advanceRun(store, { schema: 1, ...RUN, done: CYCLES, checkpoint: after });
}

function named(cycle: number): CheckpointRef {
  return { ...RUN, name: String(cycle).padStart(6, '0') };
}

function groupsOfLastCycle() {
  const look = { worker: 'quick', subtask: 'Look at one spider, and count its legs.', sees: [] };
  const multiply = { worker: 'scholar', subtask: 'Multiply by the number of spiders.', sees: [0] };
  const check = {
    worker: 'checker',
    subtask: 'Check the product, and answer with a number alone.',
    sees: [0, 1],
  };
  const wrong = { verdict: 'wrong', reward: 0.5, answer: '7' } as const;
  const own = { ...RUN, cycle: CYCLES, topic: 'sums', checkpoint: 'nightly/000007' };
  return [0, 1, 2].map((draw) =>
    groupOf(draw, [], {
      ...own,
      rollouts: [
        aRollout(0, { plan: { steps: [look, multiply, check] }, reward: 0.98 }),
        aRollout(1, { plan: { steps: [look, multiply, check] }, ...wrong }),
        aRollout(2, { plan: { steps: [look] }, ...wrong }),
        aRollout(3, {
          plan: null,
          problem: 'it has no steps',
          verdict: 'unparseable',
          reward: 0,
          answer: null,
        }),
      ],
    }),
  );
}

/** Stores one more cycle of a third night that is under way; with a decision, the night ends. */
export async function keepNextCycle(
  store: Store,
  cycle: 9 | 10,
  decision: string | null = null,
): Promise<void> {
  const [trainRun, date] = ['nightly', '2026-11-22'];
  const figures = { trainRun, cycle, night: date, rewardMean: cycle === 9 ? 0.81 : 0.92 };
  for (const made of madeUpCycles(1, figures)) await writeRecord(store, metricsKey(trainRun, cycle), made);
  const openedAt = `${date}T02:30:00.000Z`;
  const night = aNight({ date, first: 9, last: 10, done: cycle, checkpoint: named(cycle), openedAt });
  await writeNight(store, night);
  if (decision === null) return;
  await closeNight(store, { trainRun, date, done: cycle, checkpoint: named(cycle), decision });
}

/** Stores an evaluation of four methods that is over. */
export async function keepEvaluation(store: Store, run: ResolvedRun): Promise<void> {
  const { key: set } = await keepLines(store, QUESTIONS, questionSetKey);
  const manifest: EvaluationManifest = {
    schema: 1,
    id: 'eval-legs',
    file: 'legs.jsonl',
    set,
    questions: QUESTIONS.length,
    methods: ['conductor', 'worker:a', 'worker:b', 'random-routing'],
    workers: ['a', 'b'],
    seed: 7,
    startedAt: '2026-11-21T01:00:00.000Z',
    run,
  };
  await writeRecord(store, evaluationManifestKey(manifest.id), manifest);
  const plan = {
    steps: [
      { worker: 'a', subtask: 'Count.', sees: [] },
      { worker: 'b', subtask: 'Check.', sees: [0] },
    ],
  };
  const rightUntil = [20, 14, 9, 8];
  const nanoUsd = [4_000_000, 2_500_000, 600_000, 1_500_000];
  const records = manifest.methods.flatMap((method, place) =>
    QUESTIONS.map(({ id }, index) => {
      const isRight = index < (rightUntil[place] ?? 0) === (index % 9 !== place);
      return aRecord(method, index, {
        evaluation: manifest.id,
        question: id,
        ...(isRight ? RIGHT : WRONG),
        plan: place === 0 ? plan : null,
        runs: [`${manifest.id}-${place}-${index}`],
        workers: [{ a: 1, b: 1 }, { a: 1 }, { b: 1 }, { a: 1 }][place] ?? {},
        spent: { calls: 1, inputTokens: 900, outputTokens: 200, nanoUsd: nanoUsd[place] ?? 0 },
        latencyMs: 1500 * (place + 1),
      });
    }),
  );
  for (const record of records) {
    await writeRecord(store, resultKey(manifest.id, record.index, record.method), record);
  }
}

const RIGHT = { verdict: 'correct', answer: 'It is right.' } as const;
const WRONG = { verdict: 'wrong', reason: 'it is another number', answer: '<i>seven</i>' } as const;

/** Stores calls of twenty days by three workers, with and without a key, and one call that is still open. */
export async function keepCalls(store: Store, keyId: string): Promise<void> {
  let count = 0;
  const keep = (changes: Partial<LedgerRow>): Promise<void> =>
    writeRow(
      store,
      aRow({ callId: (count += 1).toString(16).padStart(64, '0'), runId: `run-${count}`, ...changes }),
    );
  const workers = ['sol', 'sonnet', 'a-worker-with-quite-a-long-name'];
  for (let day = 1; day <= 20; day += 1) {
    for (const [place, worker] of workers.entries()) {
      const startedAt = `2026-11-${String(day).padStart(2, '0')}T10:00:00.000Z`;
      const rootId = place === 0 ? `gw-${keyId}-${day}` : `solve-${day}`;
      const nanoUsd = (place + 1) * day * 1_700_000 + 3_000_000;
      await keep({ worker, model: `model-${place}`, rootId, startedAt, endedAt: startedAt, nanoUsd });
    }
  }
  await keep({ worker: 'sol', startedAt: '2026-11-20T11:00:00.000Z', savedNanoUsd: 900_000 });
  await keep({ worker: 'sol', rootId: 'solve-20', startedAt: '2026-11-20T12:00:00.000Z', ...OPEN });
}

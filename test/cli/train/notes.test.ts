import { join } from 'node:path';
import { parseConfig } from '../../../src/config/load';
import { resolveRun } from '../../../src/config/resolve-run';
import { evaluationManifestKey, resultKey } from '../../../src/evaluation/contract';
import { SqliteStore } from '../../../src/store/sqlite-store';
import { notesFrom } from '../../../src/cli/train/notes';
import type { GroupRecord } from '../../../src/training/definitions';
import { type Ended, endedWith } from '../command';
import { poolAt } from '../folder';
import { useFolder } from '../stage';
import { aRecord } from '../../evaluation/a-record';
import { step } from '../../support/step';
import { keepRun } from '../../training/client/keep-run';
import { aGroup, aRollout } from './show/a-group';

const stage = useFolder();

const QUESTION = { id: 'algebra-17', question: 'How many?', answer: '42', grader: 'number' };
/** Rollouts of which two thirds are right. */
const ROLLOUTS = Array.from({ length: 6 }, (_, index) =>
  aRollout(index, { verdict: index < 4 ? 'correct' : 'wrong' }),
);

async function writeNotes(question: object): Promise<Ended> {
  await stage.folder.write('conductor.yaml', poolAt('http://127.0.0.1:9', { store: 'sqlite:store.db' }));
  const store = new SqliteStore(join(stage.folder.path, 'store.db'));
  await keepRun(store, 'nightly', [{ ...QUESTION, ...question }], [aGroup(ROLLOUTS)]);
  return stage.run('train', 'notes', '--run', 'nightly');
}

test('prints notes as they may stand in a configuration; questions without a topic give none', async () => {
  const stdout = 'workers:\n  - id: quick\n    notes: algebra 67 %\n';
  expect(await writeNotes({ topic: 'algebra' })).toMatchObject({ code: 0, stdout });
  const none = 'it takes a cycle that is over, and questions with a "topic"';
  expect(await writeNotes({})).toMatchObject(endedWith(2, none));
});

test('adds the seconds of a worker to its notes if an evaluation measured the same model alone', async () => {
  const [alpha] = poolAt('http://127.0.0.1:9').workers;
  const pool = poolAt('http://127.0.0.1:9', {
    store: 'sqlite:store.db',
    workers: [{ ...alpha, id: 'quick' } as NonNullable<typeof alpha>],
  });
  await stage.folder.write('conductor.yaml', pool);
  const store = new SqliteStore(join(stage.folder.path, 'store.db'));
  await keepRun(store, 'nightly', [{ ...QUESTION, topic: 'algebra' }], [aGroup(ROLLOUTS)]);
  const run = resolveRun(parseConfig(pool));
  const keep = async (
    id: string,
    startedAt: string,
    latencies: readonly number[],
    models = run,
  ): Promise<void> => {
    const manifest = { schema: 1, id, startedAt, methods: ['worker:quick'], workers: ['quick'], run: models };
    const planned = { ...manifest, file: 'f.jsonl', set: '', questions: latencies.length, seed: 1 };
    await store.write(evaluationManifestKey(id), Buffer.from(JSON.stringify(planned)));
    for (const [index, latencyMs] of latencies.entries()) {
      const record = aRecord('worker:quick', index, { evaluation: id, latencyMs });
      await store.write(resultKey(id, index, 'worker:quick'), Buffer.from(JSON.stringify(record)));
    }
  };
  const other = run.workers.map((worker) => ({ ...worker, model: 'another' }) as typeof worker);
  await keep('eval-first', '2026-11-01', [99_000]);
  await keep('eval-second', '2026-11-02', [1_000, 2_340, 9_000]);
  await keep('eval-other', '2026-11-03', [77_000], { ...run, workers: other });
  const { stdout } = await stage.run('train', 'notes', '--run', 'nightly');
  expect(stdout).toBe('workers:\n  - id: quick\n    notes: algebra 67 %; answers in 2.3 s\n');
});

const topicOf = (question: string): string | undefined =>
  question === 'riddle-1' ? undefined : question.replace(/-\d+$/, '');

test('credits answers to the worker of the last step, lists the best topic first, and omits rarely tried ones', () => {
  const steps = [step('quick', 'Plan.'), step('scholar', 'Answer.', [0])];
  const team = ROLLOUTS.map((rollout) => ({ ...rollout, plan: { steps } }));
  const groups = [
    aGroup([...ROLLOUTS, ...team]),
    aGroup(ROLLOUTS.slice(0, 5), { question: 'law-2' }),
    aGroup(team.slice(0, 4), { question: 'law-2' }),
  ];
  expect(notesFrom(groups, topicOf)).toEqual([
    { id: 'quick', notes: 'law 80 %, algebra 67 %' },
    { id: 'scholar', notes: 'algebra 67 %' },
  ]);
});

test.each<[string, object, Partial<GroupRecord>]>([
  ['nobody could judge', { verdict: 'ungraded' }, {}],
  ['is to no plan', { plan: null, verdict: 'unparseable' }, {}],
  ['reviews another one', {}, { round: 1 }],
  ['is to a held-out question', {}, { purpose: 'evaluation' }],
  ['is to a question without a topic', {}, { question: 'riddle-1' }],
])('an answer that %s does not count', (_, rollout, group) => {
  const rollouts = ROLLOUTS.map((each) => ({ ...each, ...rollout }));
  expect(notesFrom([aGroup(rollouts, group)], topicOf)).toEqual([]);
});

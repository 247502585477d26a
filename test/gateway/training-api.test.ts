import { readGivenConfig } from '../../src/config/load';
import { resolveRun } from '../../src/config/resolve-run';
import { type EvaluationManifest, evaluationManifestKey } from '../../src/evaluation/definitions';
import { KeyChecker, readAudit } from '../../src/gateway/access';
import { dateOf } from '../../src/store/costs';
import { readServing } from '../../src/training/client';
import { useGateway } from '../support/gateway';
import { keepCalls, keepEvaluation, keepNights } from '../support/kept-board';
import { keepNightly } from '../support/keep-nightly';
import { useStage } from '../support/stage';

const stage = useStage({ workers: ['a'] });

const gateway = useGateway(stage);
let admin: string;
let key: string;
beforeEach(async () => {
  admin = await gateway.key({ isAdmin: true, name: 'operator' });
  key = await gateway.key();
  await keepNightly(stage.store, null);
});
const ask = (method: string, path: string, as: string, body?: object) =>
  gateway.ask(method, path, body, { key: as });

test('any key can read nights and checkpoints', async () => {
  const night = { trainRun: 'nightly', date: '2026-11-21', done: 2, cycles: [] };
  expect(await ask('GET', '/api/nights', key)).toMatchObject({
    body: [{ trainRun: 'nightly', nights: [night] }],
  });
  expect(await ask('GET', '/api/nights/nightly', key)).toMatchObject({
    body: { nights: [night], underWay: null },
  });
  expect(await ask('GET', '/api/nights/nightly/2026-11-21', key)).toMatchObject({ status: 200, body: night });
  for (const path of ['nightly/2026-11-22', 'other', '..%2f..%2fgateway', 'other/2026-11-21']) {
    expect(await ask('GET', `/api/nights/${path}`, key)).toMatchObject({ status: 404 });
  }
  const { body } = await ask('GET', '/api/checkpoints', key);
  expect(body).toMatchObject({
    checkpoints: ['nightly/000001', 'nightly/000002'],
    serving: { serving: null },
  });
});

test('only an admin key can change what serves, and the audit log records it', async () => {
  const promote = { checkpoint: 'nightly/000001', reason: 'it won' };
  for (const [name, body] of [
    ['promote', promote],
    ['rollback', {}],
    ['pin', {}],
  ] as const) {
    expect(await ask('POST', `/api/checkpoints/${name}`, key, body)).toMatchObject({ status: 403 });
  }
  expect((await readServing(stage.store)).serving).toBeNull();

  const to = (name: string, body: object) => ask('POST', `/api/checkpoints/${name}`, admin, body);
  expect(await to('promote', promote)).toMatchObject({
    status: 200,
    body: { changed: true, sentence: 'nightly/000001 serves now', serving: { reason: 'it won' } },
  });
  expect(await to('promote', promote)).toMatchObject({ status: 200, body: { changed: false } });
  expect(await to('promote', { checkpoint: 'nightly/000009' })).toMatchObject({ status: 404 });
  expect(await to('promote', { checkpoint: 'nightly' })).toMatchObject({ status: 400 });
  expect(await to('pin', {})).toMatchObject({ body: { serving: { pinned: true } } });
  expect(await to('pin', { pinned: false })).toMatchObject({ body: { serving: { pinned: false } } });
  expect(await to('rollback', {})).toMatchObject({ body: { changed: true, serving: { serving: null } } });

  const today = dateOf(Date.now());
  const entries: unknown[] = [];
  for await (const { action, keyName, target } of readAudit(stage.store, { since: today, until: today })) {
    entries.push([action, keyName, target]);
  }
  const one = 'nightly/000001';
  expect(entries).toEqual([
    ['promote', 'operator', one],
    ['pin', 'operator', one],
    ['pin', 'operator', one],
    ['rollback', 'operator', 'none'],
  ]);
});

test('evaluations are listed and summarized', async () => {
  const { store } = stage;
  expect(await ask('GET', '/api/evaluations', key)).toMatchObject({ status: 200, body: [] });
  const manifest: EvaluationManifest = {
    schema: 1,
    id: 'eval-1',
    file: 'legs.jsonl',
    set: 'a'.repeat(64),
    questions: 1,
    methods: ['worker:a'],
    workers: ['a'],
    seed: 7,
    startedAt: '2026-11-21T01:00:00.000Z',
    run: resolveRun(readGivenConfig(stage.config)),
  };
  await store.write(evaluationManifestKey('eval-1'), Buffer.from(JSON.stringify(manifest)));
  await store.write(evaluationManifestKey('eval-0'), Buffer.from('{}'));
  const { id, file, questions, methods, workers, seed, startedAt } = manifest;
  const listed = { id, file, questions, methods, workers, seed, startedAt };
  expect((await ask('GET', '/api/evaluations', key)).body).toEqual([listed]);
  const summary = { id: 'eval-1', complete: 0, methods: [{ method: 'worker:a', score: null }] };
  expect(await ask('GET', '/api/evaluations/eval-1', key)).toMatchObject({ status: 200, body: summary });
  for (const other of ['eval-0', 'eval-2', '..%2fkeys', 'A']) {
    expect(await ask('GET', `/api/evaluations/${other}`, key)).toMatchObject({ status: 404 });
  }
});

test('only an admin key can read what a cycle tried, because questions may belong to other keys', async () => {
  await keepNights(stage.store);
  const path = '/api/nights/nightly/cycles/8';
  const refused = await ask('GET', path, key);
  expect(refused).toMatchObject({ status: 403 });
  expect(JSON.stringify(refused)).not.toContain('legs');
  const { status, body } = await ask('GET', path, admin);
  expect(status).toBe(200);
  expect(body).toMatchObject({
    cycle: 8,
    metrics: { cycle: 8, night: '2026-11-21' },
    groups: [
      {
        draw: 0,
        question: 'q0',
        text: 'How many legs have 0 spiders? <b>Count</b>.',
        rollouts: [
          { answer: '42', reward: 0.98 },
          { verdict: 'wrong' },
          { plan: { steps: [{}] } },
          { plan: null },
        ],
      },
      { draw: 1 },
      { draw: 2 },
    ],
  });
  expect(body).not.toHaveProperty('groups.0.samples');
  for (const other of ['nightly/cycles/9', 'other/cycles/1', '..%2f..%2fgateway/cycles/1']) {
    expect(await ask('GET', `/api/nights/${other}`, admin)).toMatchObject({ status: 404 });
  }
  expect(await ask('GET', '/api/nights/nightly/cycles/zero', admin)).toMatchObject({ status: 400 });
});

test('any key can read what the gate of a night found', async () => {
  await keepNights(stage.store);
  const { body } = await ask('GET', '/api/nights/nightly/2026-11-21', key);
  expect(body).toMatchObject({
    canary: null,
    gate: {
      lowerBound: expect.closeTo(0.338, 3) as number,
      candidate: 'nightly/000008',
      baseline: 'nightly/000004',
      promoted: true,
      pairs: 12,
      judgement: 1,
    },
  });
  expect(await ask('GET', '/api/nights/nightly/2026-11-20', key)).toMatchObject({ body: { gate: null } });
});

test('only an admin key can read the questions and answers of an evaluation', async () => {
  await keepEvaluation(stage.store, resolveRun(readGivenConfig(stage.config)));
  const path = '/api/evaluations/eval-legs/details';
  expect(await ask('GET', path, key)).toMatchObject({ status: 403 });
  const { body } = await ask('GET', path, admin);
  expect(body).toHaveProperty('tables.0.rows.0', [
    'data set',
    'questions',
    'conductor',
    'worker:a',
    'worker:b',
    'random-routing',
  ]);
  expect(body).toMatchObject({ disagreements: { methods: ['conductor', 'worker:a'], won: 6, lost: 2 } });
  expect(body).toHaveProperty('disagreements.shown.0.sides', [
    expect.objectContaining({ verdict: 'correct', runs: ['eval-legs-0-1'] }),
    expect.objectContaining({ verdict: 'wrong', answer: '<i>seven</i>', plan: null }),
  ]);
  for (const set of await stage.store.list('questions/')) {
    await stage.store.removeOlder(set, new Date(Date.now() + 60_000));
  }
  expect(await ask('GET', path, admin)).toMatchObject({
    status: 404,
    body: { error: { message: expect.stringContaining('evaluate legs.jsonl again') as string } },
  });
  expect(await ask('GET', '/api/evaluations/eval-2/details', admin)).toMatchObject({ status: 404 });
});

test('only an admin key can read the costs by key, and by day and worker', async () => {
  const own = await new KeyChecker(stage.store).check(admin);
  await keepCalls(stage.store, own?.id ?? '');
  for (const by of ['key', 'day-worker']) {
    expect(await ask('GET', `/api/cost?by=${by}`, key)).toMatchObject({ status: 403 });
  }
  expect(await ask('GET', '/api/cost?by=key', admin)).toMatchObject({
    body: {
      lines: [
        { name: 'no key', calls: 42, costIsLowerBound: true },
        { name: `operator (${own?.id})`, calls: 20, costUsd: 0.417 },
      ],
      total: { calls: 62 },
    },
  });
  const { body } = await ask('GET', '/api/cost?by=day-worker&since=2026-11-20', admin);
  expect(body).toMatchObject({
    lines: [
      { name: '2026-11-20 a-worker-with-quite-a-long-name', calls: 1 },
      { name: '2026-11-20 sol', calls: 3, open: 1, savedUsd: 0.0009 },
      { name: '2026-11-20 sonnet', calls: 1 },
    ],
  });
});

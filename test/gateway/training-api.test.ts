import { readGivenConfig } from '../../src/config/load';
import { resolveRun } from '../../src/config/resolve-run';
import { manifestKey } from '../../src/evaluation/contract';
import type { Manifest } from '../../src/evaluation/results';
import { readAudit } from '../../src/gateway/access/audit';
import { dateOf } from '../../src/store/costs';
import { readServing } from '../../src/training/policy/serving';
import { openGateway, type TestGateway } from '../support/gateway';
import { keepNightly } from '../support/keep-nightly';
import { useStage } from '../support/stage';

const stage = useStage({ workers: ['a'] });

let gateway: TestGateway;
let admin: string;
let key: string;
beforeEach(async () => {
  gateway = await openGateway(stage);
  admin = await gateway.key({ isAdmin: true, name: 'operator' });
  key = await gateway.key();
  await keepNightly(stage.store, null);
});
afterEach(() => gateway.close());

async function ask(method: string, path: string, as: string, body?: object) {
  const response = await fetch(gateway.url + path, {
    method,
    headers: { authorization: `Bearer ${as}`, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: await response.json() };
}

test('nights and checkpoints are read by any key', async () => {
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

test('an admin key alone changes what serves, and the audit log says so', async () => {
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

test('evaluations are listed and summed up', async () => {
  const { store } = stage;
  expect(await ask('GET', '/api/evaluations', key)).toEqual({ status: 200, body: [] });
  const manifest: Manifest = {
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
  await store.write(manifestKey('eval-1'), Buffer.from(JSON.stringify(manifest)));
  await store.write(manifestKey('eval-0'), Buffer.from('{}'));
  const { id, file, questions, methods, workers, seed, startedAt } = manifest;
  const listed = { id, file, questions, methods, workers, seed, startedAt };
  expect(await ask('GET', '/api/evaluations', key)).toEqual({ status: 200, body: [listed] });
  const summary = { id: 'eval-1', complete: 0, methods: [{ method: 'worker:a', score: null }] };
  expect(await ask('GET', '/api/evaluations/eval-1', key)).toMatchObject({ status: 200, body: summary });
  for (const other of ['eval-0', 'eval-2', '..%2fkeys', 'A']) {
    expect(await ask('GET', `/api/evaluations/${other}`, key)).toMatchObject({ status: 404 });
  }
});

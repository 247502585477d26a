import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { EvaluateInput } from '../../../src/evaluation/definitions';
import { endedWith } from '../command';
import { type EvaluationFolder, openEvaluationFolder } from './commands';
import type { SimulatedRequest } from '../../../src/testing';
import { WORKERS as POOL } from '../../../examples/evaluate/world';
import { ageStore } from '../../support/stores';

const A_DAY_MS = 24 * 60 * 60 * 1000;

let stage: EvaluationFolder;
beforeEach(async () => {
  stage = await openEvaluationFolder(6);
});
afterEach(() => stage.close());

const WORKERS = ['eval', 'questions.jsonl', '--methods', 'workers', '--window', '2'];
/** One call of each of three workers per question, of six. */
const CALLS = 18;

function idIn(text: string): EvaluateInput['id'] {
  return /eval --resume (\S+)/.exec(text)?.[1] ?? '';
}

test('an evaluation stopped by its budget continues with another budget, and pays for nothing twice', async () => {
  const short = await stage.run([...WORKERS, '--max-cost', '0.008']);
  expect(short).toMatchObject({ code: 3 });
  const id = idIn(short.stderr);
  const unbounded = await stage.run(['eval', '--resume', id]);
  expect(unbounded).toMatchObject(endedWith(2, 'set a budget for the rest with --max-cost USD'));
  const known = (await stage.results(id)).map(({ method, index }) => `${method} ${index}`);
  const other = await stage.run(['eval', 'questions.jsonl', '--resume', id]);
  expect(other).toMatchObject(endedWith(2, 'reuses the original questions'));
  const before = stage.providers.log.length;
  const whole = await stage.run(['eval', '--resume', id, '--max-cost', '1']);
  expect(whole).toMatchObject({ code: 0 });
  expect(stage.providers.log.length - before).toBe(CALLS - known.length);
  expect(await stage.results(id)).toHaveLength(CALLS);
  const again = await stage.run(['eval', '--resume', 'last']);
  expect(again).toMatchObject({ code: 0, stdout: whole.stdout });
  expect(stage.providers.log.length - before).toBe(CALLS - known.length);
}, 180_000);

test('Ctrl-C leaves an evaluation as it is, and --resume continues it', async () => {
  const evaluating = stage.start([...WORKERS, '--max-cost', '1']);
  // The last questions wait, however late the command looks.
  await stage.providers.waitForLog((log) => log.filter(({ model }) => model === 'clerk').length === 4);
  const release = stage.providers.hold('clerk');
  await evaluating.hear(/[1-5] of 6 questions/);
  evaluating.signal('SIGINT');
  const left = await evaluating.ended;
  release();
  expect(left).toMatchObject({ code: 130, stdout: '' });
  const up = stage.start(['up']);
  await up.hear(
    new RegExp(`${idIn(left.stderr)}: stop it with temporal-conductor cancel ${idIn(left.stderr)}`),
  );
  up.signal('SIGINT');
  up.signal('SIGINT');
  await up.ended;
  const whole = await stage.run(['eval', '--resume', idIn(left.stderr)]);
  expect(whole).toMatchObject({ code: 0 });
  expect(await stage.results(idIn(left.stderr))).toHaveLength(CALLS);
}, 180_000);

test('--detach leaves an evaluation to running workers, and --resume shows what they found', async () => {
  const alone = await stage.run([...WORKERS, '--max-cost', '1', '--detach']);
  expect(alone).toMatchObject({ code: 2, stdout: '' });
  expect(alone.stderr).toContain('temporal-conductor up');
  const up = stage.start(['up']);
  await up.hear(/Ready/);
  const detached = await stage.run([...WORKERS, '--max-cost', '1', '--detach']);
  expect(detached).toMatchObject({ code: 0 });
  const id = detached.stdout.trim();
  expect(idIn(detached.stderr)).toBe(id);
  const shown = await stage.run(['eval', '--resume', id]);
  expect(shown).toMatchObject({ code: 0 });
  expect(await stage.results(id)).toHaveLength(CALLS);
  expect(stage.providers.log).toHaveLength(CALLS);
  up.signal('SIGINT');
  await up.ended;
}, 180_000);

test('after a configuration change, an evaluation continues with its original models, or says why it cannot', async () => {
  const short = await stage.run([...WORKERS, '--max-cost', '0.008', '--deny', 'clerk']);
  expect(short).toMatchObject({ code: 3 });
  const id = idIn(short.stderr);
  const place = { provider: 'openai', apiKeyEnv: 'POOL_KEY' } as const;
  const elsewhere = { ...place, baseUrl: 'http://127.0.0.1:1/v1' };
  const coder = { id: 'coder', model: 'coder', ...elsewhere };
  await stage.configure({
    conductor: { ...elsewhere, model: 'conductor' },
    workers: [coder],
    verifier: undefined,
  });
  const refused = await stage.run(['eval', '--resume', id, '--max-cost', '1', '--trust']);
  expect(refused).toMatchObject(endedWith(2, `this configuration cannot resume evaluation ${id}`));

  await stage.configure({ workers: [coder], limits: { calls: 3 } });
  const whole = await stage.run(['eval', '--resume', id, '--max-cost', '1', '--trust']);
  expect(whole).toMatchObject(endedWith(0, `Evaluation ${id} goes on with its original models and limits.`));
  // No call went to the new address, where nobody answers, and every call had a price.
  const records = await stage.results(id);
  expect(records).toHaveLength(12);
  for (const { spent } of records) expect(spent.nanoUsd).toBeGreaterThan(0);
}, 180_000);

test('an answer of the log survives the loss of the server with its run, and a garbage collection', async () => {
  await stage.close();
  const answer = ({ text }: SimulatedRequest) => `To ${text.slice(-60)}: I looked it up. `.repeat(100);
  const judge = ({ text }: SimulatedRequest) => /nothing else: (\S+) or/.exec(text)?.[1] ?? '';
  const models = Object.keys(POOL).map((name) => [name, { answer }] as const);
  stage = await openEvaluationFolder(2, { ...Object.fromEntries(models), judge: { answer: judge } });
  for (const { question } of stage.questions) await stage.run(['solve', question]);
  const log = ['eval', '--from-traces', '--methods', 'worker:clerk', '--judge'];
  const short = await stage.run([...log, '--max-cost', '0.003']);
  expect(short).toMatchObject({ code: 3 });
  const path = (name: string): string => join(stage.folder.path, '.conductor', name);
  for (const end of ['', '-wal', '-shm']) await rm(path(`temporal.db${end}`), { force: true });
  ageStore(path('store.db'), 3 * A_DAY_MS);
  await stage.run(['solve', 'What is old?']);
  expect(await stage.run(['store', 'gc', '--older-than', '1d'])).toMatchObject({ code: 0 });
  const id = idIn(short.stderr);
  const whole = await stage.run(['eval', '--resume', id, '--max-cost', '9']);
  expect(whole).toMatchObject({ code: 0 });
  const compared = (await stage.results(id)).filter(({ preference }) => preference !== undefined);
  expect(compared).toHaveLength(2);
}, 180_000);

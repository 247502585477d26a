import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { renderPlan } from '../../src/plan/render';
import type { Ended } from '../cli/command';
import { poolAt } from '../cli/folder';
import { useStage } from '../cli/stage';
import { keysText } from './test-keys';

const QUESTION = 'Where do quokkas live?';
const ANSWER = 'They live in the quokka house. '.repeat(300).trim();
const FAILURE = 'wombats only';
const PLAN = renderPlan(
  {
    steps: [
      { worker: 'beta', subtask: 'Try, quokka.', sees: [] },
      { worker: 'alpha', subtask: 'Answer, quokka.', sees: [0] },
    ],
  },
  ['alpha', 'beta'],
);

const stage = useStage(
  {
    boss: { answer: PLAN },
    alpha: { answer: ANSWER },
    beta: { answer: { fault: 'bad-request', message: FAILURE } },
  },
  { configOf: (url) => poolAt(url, { encryption: { keyEnv: 'CONDUCTOR_KEYS' } }) },
);

function run(keys: string | null, ...args: string[]): Promise<Ended> {
  return stage.start(args, { env: keys === null ? {} : { CONDUCTOR_KEYS: keys } }).ended;
}

/** Returns the bytes of the database, the store and whatever lies beside them, except the log, which is plain text. */
async function bytesLeftBehind(): Promise<Buffer> {
  const entries = await readdir(join(stage.folder.path, '.conductor'), {
    recursive: true,
    withFileTypes: true,
  });
  const files = entries.filter((entry) => entry.isFile() && entry.name !== 'worker.log');
  return Buffer.concat(
    await Promise.all(files.map(({ parentPath, name }) => readFile(join(parentPath, name)))),
  );
}

test('a run of the command line is encrypted, readable with the key, and refused without it', async () => {
  const solved = await run(keysText('a'), 'solve', '--json', QUESTION);
  expect(solved.code).toBe(0);
  const { id, answer } = JSON.parse(solved.stdout) as { id: string; answer: string };
  expect(answer).toBe(ANSWER);
  // The workflow itself fails: its reasons are encoded in the sandbox.
  const single = { steps: [{ worker: 'beta', subtask: 'Try, quokka.', sees: [] }] };
  stage.providers.answer('boss', renderPlan(single, ['alpha', 'beta']));
  const failed = await run(keysText('a'), 'solve', QUESTION);
  expect(failed.code).toBe(1);
  expect(failed.stderr).toContain(FAILURE);

  const left = await bytesLeftBehind();
  expect(left.includes(id)).toBe(true);
  expect(['quokka', FAILURE].filter((word) => left.includes(word))).toEqual([]);

  const traced = await run(keysText('b', 'a'), 'trace', id, '--format', 'json');
  expect(JSON.parse(traced.stdout)).toMatchObject({ question: QUESTION, answer: ANSWER });
  expect(traced.stdout).toContain(FAILURE);

  const withOther = await run(keysText('b'), 'trace', id);
  expect(withOther).toMatchObject({ code: 2, stdout: '' });
  expect(withOther.stderr).toContain('was encrypted with key "a", which CONDUCTOR_KEYS does not hold');
  const without = await run(null, 'solve', QUESTION);
  expect(without.code).toBe(2);
  expect(without.stderr).toContain('CONDUCTOR_KEYS, which is not set in this process');
});

test('a codec server answers pages until Ctrl-C, and needs a token to serve other machines', async () => {
  const start = ['codec-server', '--origin', 'http://127.0.0.1:8233', '--port', '0'];
  const server = stage.start(start, { env: { CONDUCTOR_KEYS: keysText('b', 'a') } });
  const [, url = ''] = await server.hear(/^Ready\. Enter (\S+) as codec endpoint/m);
  const body = JSON.stringify({ payloads: [{ data: '' }] });
  const headers = { 'content-type': 'application/json', origin: 'http://127.0.0.1:8233' };
  const encoded = await fetch(`${url}/encode`, { method: 'POST', headers, body });
  const decoded = await fetch(`${url}/decode`, { method: 'POST', headers, body: await encoded.text() });
  expect(await decoded.text()).toBe(body);
  server.signal('SIGINT');
  const { code, stderr } = await server.ended;
  expect({ code, keys: /^Keys .*$/m.exec(stderr)?.[0] }).toEqual({
    code: 0,
    keys: 'Keys          b (encrypts), a',
  });

  const refusals = await Promise.all([
    run(keysText('a'), ...start, '--host', '0.0.0.0'),
    run(keysText('a'), 'codec-server', '--origin', 'http://127.0.0.1:8233/path'),
    run(keysText('a'), 'codec-server'),
  ]);
  expect(refusals.map((ended) => ended.code)).toEqual([2, 2, 2]);
  expect(refusals[0].stderr).toContain('put a token into CONDUCTOR_CODEC_TOKEN');
  expect(refusals[1].stderr).toContain('Expected an origin');
  expect(refusals[2].stderr).toContain('--origin');
});

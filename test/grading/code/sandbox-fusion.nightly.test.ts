import { grade } from '../../../src/grading';
import { graderProblem } from '../../../src/grading/grade';
import { type Listening, serve } from '../../support/serve';
import { IS_ROOT } from './bubblewrap-here';
import { serveSandboxFusion } from './sandbox-fusion-server';
import { fenced, judged, SUM, testHonest } from './fenced';

afterEach(() => delete process.env.CONDUCTOR_SANDBOX);

describe('with a server that speaks the SandboxFusion protocol', () => {
  let server: Listening;
  beforeAll(async () => (server = await serveSandboxFusion()));
  afterAll(() => server.close());
  beforeEach(() => (process.env.CONDUCTOR_SANDBOX = server.url));

  testHonest('sandbox-fusion');

  test.each([
    ['an endless loop', 'while True:\n    pass', 'it took more than 1 s of CPU time'],
    ['one that waits', 'import time\ntime.sleep(100)', 'it was not done after 10 s'],
    ['10 GB', 'bytearray(10 << 30)', 'MemoryError'],
    ['much output', 'print("x" * 100_000)', 'it printed more than'],
  ])('%s is wrong', async (_, python, reason) => {
    expect(await grade({ ...SUM, seconds: 1 }, fenced(python))).toMatchObject(judged('wrong', reason));
  });
});

test.each([
  ['that fails', 200, '{"status":"SandboxError","message":"no room"}', 'failed: no room'],
  ['that answers otherwise', 200, '{"ok":true}', 'answered no result: {"ok":true}'],
  ['of another kind', 404, 'no such page', 'answered 404: no such page'],
])(
  'a server %s leaves a program ungraded, and the grader says what to do',
  async (_, status, body, reason) => {
    const server = await serve((_request, response) => response.writeHead(status).end(body));
    process.env.CONDUCTOR_SANDBOX = server.url;
    expect(await grade(SUM, fenced('print(3)'))).toMatchObject(judged('ungraded', reason));
    expect(await graderProblem([SUM])).toContain('Start SandboxFusion there, or correct CONDUCTOR_SANDBOX');
    await server.close();
  },
);

test('an unreachable server is reported, and leaves a program ungraded', async () => {
  process.env.CONDUCTOR_SANDBOX = 'http://127.0.0.1:9';
  expect(await graderProblem([SUM])).toContain('http://127.0.0.1:9 did not answer');
  expect(await grade(SUM, fenced('print(3)'))).toMatchObject({ verdict: 'ungraded' });
});

test('code runs without a sandbox only if that is requested in full', async () => {
  process.env.CONDUCTOR_SANDBOX = 'none';
  const problem = await graderProblem([SUM]);
  expect(problem).toContain('CONDUCTOR_SANDBOX is "none": expected');
  expect(problem).toContain('none-unsafe, which lets');
});

(IS_ROOT ? test : test.skip)('root runs no code without a sandbox', async () => {
  process.env.CONDUCTOR_SANDBOX = 'none-unsafe';
  expect(await grade(SUM, fenced('print(3)'))).toMatchObject(judged('ungraded', 'never run as root'));
});

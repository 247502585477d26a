import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MockActivityEnvironment } from '@temporalio/testing';
import { createTools, type Tools } from '../../src/activities/tools';
import { parseConfig } from '../../src/config/load';
import { resolveRun } from '../../src/config/resolve-run';
import { listen, type Listening } from '../../src/network/listen';
import type { OfferedTool } from '../../src/protocol/parts';
import type { ListedTools, ToolAnswer } from '../../src/protocol/tool-use';
import { SqliteStore } from '../../src/store/sqlite-store';
import { readText } from '../../src/store/texts';
import { until, untilGone } from '../support/until';

// Real servers that mean harm, over stdio and HTTP: each costs one sentence, and never the process.

interface Hostile {
  readonly state: { readonly asked: Record<string, number>; readonly open: number };
  readonly handle: (request: IncomingMessage, response: ServerResponse) => Promise<void>;
}
const { listener, POISON, TWIN } = jest.requireActual<{
  listener: (bent: string) => Hostile;
  POISON: string;
  TWIN: string;
}>('../support/hostile-server.cjs');

const PROGRAM = join(__dirname, '../support/hostile-server.cjs');
const SECRET = 'hostile-secret-2c26b46b68ffc68f';
const ALLOWED = [
  ...['poisoned', 'a.b', TWIN, 'recursive', 'vast', 'nested', 'lists', 'pattern', 'missing'],
  ...['huge', 'fails', 'deep', 'halves', 'endless', 'events', 'lost', 'forbidden'],
];
const BENTS = ['plain', 'banner', 'noisy', 'dies', 'pages', 'garbage', 'one-line'] as const;
const model = { provider: 'openai', model: 'sim-1', apiKeyEnv: 'KEY' } as const;

const remote = listener('plain');
let folder: string;
let store: SqliteStore;
let server: Listening;
let tools: Tools;
let cards: NonNullable<ReturnType<typeof resolveRun>['toolset']>['cards'];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hostile-'));
  store = new SqliteStore(join(folder, 'store.db'));
  server = await listen(
    createServer((request, response) => void remote.handle(request, response)),
    0,
    '127.0.0.1',
  );
  const program = (bent: string) => ({
    mcp: { command: [process.execPath, PROGRAM, bent], env: ['HOSTILE_SECRET', 'HOSTILE_PID'] },
    allow: ALLOWED,
  });
  const config = parseConfig({
    conductor: model,
    workers: [{ id: 'ada', ...model, tools: ['hostile', ...BENTS, 'absent'] }],
    tools: {
      hostile: { mcp: { url: `${server.url}/mcp` }, allow: ALLOWED },
      'hasty-hostile': { mcp: { url: `${server.url}/mcp` }, allow: ALLOWED, timeout: '3s' },
      'hasty-plain': { ...program('plain'), timeout: '3s' },
      ...Object.fromEntries(BENTS.map((bent) => [bent, program(bent)])),
      absent: { mcp: { command: ['no-such-program-at-all'] }, allow: ALLOWED },
    },
  });
  const env = { HOSTILE_SECRET: SECRET, HOSTILE_PID: join(folder, 'pid') };
  tools = createTools(config, store, env);
  cards = resolveRun(config, {}).toolset?.cards ?? [];
});
afterAll(async () => {
  await tools.closeIdle();
  await server.close();
  await rm(folder, { recursive: true, force: true });
});

const list = (entry: string, attempt = 3): Promise<ListedTools> =>
  new MockActivityEnvironment({ attempt }).run(() => tools.list(cards.filter(({ name }) => name === entry)));

let calls = 0;
function call(entry: string, tool: string, attempt = 5): Promise<ToolAnswer> {
  const place = { rootId: 'hostile', round: 0, step: 0, worker: 'ada', turn: (calls += 1), ordinal: 0 };
  const listed = {
    card: entry,
    tool,
    name: `${entry}__${tool}`,
    repeatable: false,
    approve: false,
    bytes: 1,
  };
  const request = { ...place, tool: listed, input: '{}', resultBytes: 65_536 };
  return new MockActivityEnvironment({ attempt }).run(() => tools.call(request));
}

test.each(['hostile', 'plain', 'banner', 'noisy'])(
  '%s: what cannot be offered is withheld with a reason, and the rest is offered as it is',
  async (entry) => {
    const { list: kept, tools: listed, problems } = await list(entry);
    const reasons = [
      [TWIN, 'another tool is offered as'],
      ['vast', 'its description and schema take 10486'],
      ['nested', 'its schema is nested too deep'],
      ['lists', 'its schema has lists and objects nested more than 128 deep'],
    ].map(([tool, reason]) => `${entry}.${tool ?? ''} is withheld: ${reason ?? ''}`);
    const expected = entry === 'hostile' ? reasons : reasons.slice(1);
    expect(problems.filter((problem) => !expected.some((start) => problem.startsWith(start)))).toEqual([
      `${entry} has no tool missing`,
    ]);
    expect(problems).toHaveLength(expected.length + 1);
    const offered = JSON.parse(await readText(store, kept)) as OfferedTool[];
    expect(offered.find(({ name }) => name.endsWith('poisoned'))?.description).toBe(POISON);
    expect(offered.find(({ name }) => name.endsWith('recursive'))?.input).toMatchObject({
      properties: { next: { $ref: '#' } },
    });
    expect(new Set(listed.map(({ name }) => name)).size).toBe(listed.length);
  },
);

test.each([
  ['dies', /^node ended with exit code 3: \[31mcannot open \[secret\]: no such file$/],
  ['garbage', /^the server sent more than 10000 lines for one request$/],
  ['one-line', /^the server sent more than 8 MiB for one request$/],
  ['absent', /^no absolute folder of PATH holds no-such-program-at-all$/],
] as const)('the program %s: the reason is what it did', async (entry, expected) => {
  const { problems, tools: none } = await list(entry);
  expect(none).toEqual([]);
  expect(problems).toHaveLength(1);
  expect(problems[0]?.replace(`the tools of ${entry} cannot be listed: `, '')).toMatch(expected);
  const { outcome, output } = await call(entry, 'fails');
  expect(outcome).toBe('error');
  const told = typeof output === 'string' ? output : '';
  expect(told.replace(/^The tool was not called: |\.$/g, '')).toMatch(expected);
});

test('a server that may be starting is asked for its tools again', async () => {
  await expect(list('dies', 2)).rejects.toMatchObject({ type: 'Tool.Unsent', nonRetryable: false });
  expect((await list('absent', 1)).problems).toHaveLength(1);
});

test('a program that floods is killed', async () => {
  await list('garbage');
  await untilGone(Number(await readFile(join(folder, 'pid'), 'utf8')));
});

test('a list of pages without end is given up', async () => {
  expect((await list('pages')).problems).toEqual(ALLOWED.map((tool) => `pages has no tool ${tool}`));
});

test.each(['hostile', 'plain'])('%s: what a call brings is told in one sentence', async (entry) => {
  expect(await call(entry, 'deep')).toEqual({
    outcome: 'ok',
    output: '(structured content that is nested too deep to be shown)',
  });
  // A schema for results, which would take for ever to apply.
  expect(await call(entry, 'pattern')).toMatchObject({ outcome: 'ok' });
  expect(await call(entry, 'halves')).toEqual({ outcome: 'ok', output: 'half: \ufffd' });
  expect((await call(entry, 'huge')).output).toMatch(
    /unknown.*: the server sent more than 8 MiB for one request\.$/,
  );
  // The next call has a connection of its own.
  expect(await call(entry, 'fails')).toMatchObject({ outcome: 'error' });
  // So that the time is that of the call alone.
  await call(`hasty-${entry}`, 'halves');
  expect((await call(`hasty-${entry}`, 'endless')).output).toMatch(
    /unknown.*: it gave no result within 3 s\.$/,
  );
});

test('a call that its server refused was not made: it is tried again where that may help', async () => {
  await expect(call('hostile', 'lost', 1)).rejects.toMatchObject({
    type: 'Tool.Unsent',
    nonRetryable: false,
  });
  for (const [tool, attempt] of [
    ['lost', 5],
    ['forbidden', 1],
  ] as const) {
    expect(await call('hostile', tool, attempt)).toMatchObject({
      outcome: 'error',
      isUnsent: true,
      output: expect.stringMatching(/^The tool was not called: .*Session not found\.$/) as string,
    });
  }
});

test('a stream without end is closed, and a server is not asked again and again', async () => {
  expect((await call('hostile', 'events')).output).toMatch(/: the server sent more than 10000 lines for one/);
  expect((await call('hasty-hostile', 'endless')).output).toMatch(/: it gave no result within 3 s\.$/);
  await until(
    () => remote.state.open,
    (open) => open === 0,
  );
  expect(remote.state.asked.GET).toBe(0);
});

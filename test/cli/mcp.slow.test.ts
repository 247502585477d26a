import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client, type CallToolResult } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { Client as TemporalClient, Connection } from '@temporalio/client';
import { closedPort } from '../support/closed-port';
import { testServerAddress, testTaskQueue } from '../support/test-server';
import { endedWith } from './command';
import { planOf, useStage } from './stage';

// The official client starts the built command, and asks it.

const MAIN = join(__dirname, '..', '..', 'lib', 'cli', 'main.js');
const ANSWER = 'It rises at Donaueschingen.';

const stage = useStage(
  { boss: { answer: planOf('Look it up') }, alpha: { answer: ANSWER } },
  { server: 'shared' },
);

const question = 'Where does the Danube rise?';

/** Starts the command as a client does, and returns what it wrote to stderr until it ended. */
async function whileServed(
  work: (client: Client) => Promise<void>,
  address = testServerAddress(),
): Promise<string> {
  const transport = new StdioClientTransport({
    command: 'sh',
    args: ['-c', '"$0" "$1" mcp | tee stdout', process.execPath, MAIN],
    cwd: stage.folder.path,
    env: { TEMPORAL_ADDRESS: address },
    stderr: 'pipe',
  });
  let said = '';
  transport.stderr?.on('data', (text: Buffer) => (said += text.toString()));
  const client = new Client({ name: 'a-test', version: '1.0.0' });
  try {
    await client.connect(transport);
    await work(client);
  } finally {
    await client.close();
  }
  // The client skips lines that are no messages.
  const stdout = await readFile(join(stage.folder.path, 'stdout'), 'utf8');
  for (const line of stdout.trim().split('\n')) expect(JSON.parse(line)).toMatchObject({ jsonrpc: '2.0' });
  return said;
}

const solve = (client: Client, limits?: object, tell: (line: string) => void = () => undefined) =>
  client.callTool(
    { name: 'solve', arguments: { question, limits } },
    {
      onprogress: ({ message = '' }) => {
        tell(message);
      },
    },
  );

const read = (client: Client, id: string): Promise<CallToolResult> =>
  client.callTool({ name: 'get_solve', arguments: { id } });

/** Starts a workflow that is called as the commands call the newest run. */
async function startCalledLast(): Promise<void> {
  const connection = await Connection.connect({ address: testServerAddress() });
  const { workflow } = new TemporalClient({ connection });
  await workflow.start('other', { workflowId: 'last', taskQueue: testTaskQueue(), args: [] });
  await connection.close();
}

test('a client asks over stdio, is told of the plan, and reads the solve again, by its id or as the last one', async () => {
  await startCalledLast();
  const told: string[] = [];
  const release = stage.providers.hold('alpha');
  const said = await whileServed(async (client) => {
    // The client forgets what it reads together with the result.
    const result = await solve(client, { calls: 5 }, (line) => {
      if (told.push(line) === 3) release();
    });
    const { id } = result.structuredContent as { readonly id: string };
    expect(result.structuredContent).toMatchObject({ status: 'completed', answer: ANSWER, error: null });
    expect(result.content[0]).toEqual({ type: 'text', text: ANSWER });
    expect(told).toEqual([`Solve ${id}`, 'Plan of 1 step: alpha', 'Step 1, alpha: Look it up']);
    for (const known of [id, 'last']) {
      expect((await read(client, known)).structuredContent).toEqual(result.structuredContent);
    }
  });
  expect(said).toMatch(/^Ready: /m);
});

test('what fails is told to the client, and the command goes on', async () => {
  await whileServed(async (client) => {
    const refused = await solve(client, { costUsd: 1 });
    expect(refused).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining('price') as string }],
    });
    expect(await read(client, 'nothing')).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining('there is no run "nothing"') as string }],
    });
    for (const model of ['alpha', 'beta']) stage.providers.answer(model, { fault: 'invalid-key' });
    const failed = await solve(client);
    expect(failed).toMatchObject({ isError: true, structuredContent: { status: 'failed', answer: null } });
    expect(failed.content[0]).toMatchObject({
      text: expect.stringMatching(/^solve \S+ gave no answer: /) as string,
    });
  });
});

test('a client is told why there is no server to ask, and what is wrong with the configuration', async () => {
  await whileServed(
    async (client) => {
      const text = expect.stringMatching(/^nothing answers at 127\.0\.0\.1:\d+ /) as string;
      expect(await solve(client)).toMatchObject({ isError: true, content: [{ text }] });
      expect(await read(client, 'last')).toMatchObject({ isError: true, content: [{ text }] });
    },
    `127.0.0.1:${await closedPort()}`,
  );
  await stage.folder.write('conductor.yaml', 'workers: 3');
  await whileServed(async (client) => {
    const text = expect.stringContaining('conductor.yaml') as string;
    expect(await solve(client)).toMatchObject({ isError: true, content: [{ text }] });
  });
  expect(await stage.run('mcp')).toMatchObject(endedWith(2, 'conductor.yaml'));
});

test('a client that leaves ends the command', async () => {
  expect(await stage.run('mcp')).toMatchObject({ code: 0, stdout: '' });
});

test('without the package, the command says what to install', async () => {
  const refuse = `export function resolve(name, context, next) {
    if (name.startsWith('@modelcontextprotocol/')) throw new Error('it is not here');
    return next(name, context);
  }`;
  await stage.folder.write('refuse.mjs', refuse);
  const begin = "import { register } from 'node:module'; register('./refuse.mjs', import.meta.url);";
  await stage.folder.write('begin.mjs', begin);
  const { ended } = stage.start(['mcp'], { env: { NODE_OPTIONS: '--import ./begin.mjs' } });
  const sentence = 'needs a package: run "npm install @modelcontextprotocol/server@2" (it is not here)';
  expect(await ended).toMatchObject({ ...endedWith(2, sentence), stdout: '' });
});

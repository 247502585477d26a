import type { CallToolResult, Client } from '@modelcontextprotocol/client';
import { readAudit } from '../../src/gateway/access';
import { openGateway, useGateway } from '../support/gateway';
import { useMcpClients } from '../support/mcp-clients';
import { step, useStage } from '../support/stage';
import { endOf, until } from '../support/until';

// The official client asks the team at the gateway's /mcp.

const stage = useStage({
  workers: ['a'],
  config: { limits: { calls: 10, costUsd: 1 } },
  simulation: { models: { a: { answer: 'Eight.' } } },
});
const gateway = useGateway(stage);

const question = 'How many legs has a spider?';

const connect = useMcpClients();

interface Asking {
  readonly limits?: object;
  readonly signal?: AbortSignal;
  readonly tell?: (line: string) => void;
}

function solve(client: Client, { limits, signal, tell }: Asking = {}): Promise<CallToolResult> {
  const call = { name: 'solve', arguments: { question, limits } };
  const onprogress = tell && {
    onprogress: ({ message = '' }) => {
      tell(message);
    },
  };
  return client.callTool(call, { signal, ...onprogress });
}

const read = (client: Client, id: string): Promise<CallToolResult> =>
  client.callTool({ name: 'get_solve', arguments: { id } });

/** Returns the expectation of a refused call. */
const refused = (words: RegExp) => ({
  isError: true,
  content: [{ type: 'text', text: expect.stringMatching(words) as string }],
});

const today = (): string => new Date().toISOString().slice(0, 10);

/** Waits until the gateway knows a worker. */
async function untilServed(): Promise<void> {
  await until(
    () => gateway.ask('GET', '/health'),
    ({ status }) => status === 200,
  );
}

test.each(['legacy', 'auto'] as const)(
  'in mode %s, a client is told of the plan and its steps, then the answer, the id and the cost',
  async (mode) => {
    const since = today();
    stage.plan([step('a', 'Find a spider.'), step('a', 'Count its legs.', [0])]);
    await stage.whileWorking(async () => {
      await untilServed();
      const client = await connect(gateway, { mode });
      expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['solve', 'get_solve']);
      const told: string[] = [];
      const result = await solve(client, { tell: (line) => told.push(line) });
      const { id } = result.structuredContent as { readonly id: string };
      expect(told).toEqual([
        `Solve ${id}`,
        'Plan of 2 steps: a, a',
        'Step 1, a: Find a spider.',
        'Step 1 is done',
        'Step 2, a: Count its legs.',
      ]);
      const said = { status: 'completed', answer: 'Eight.', error: null, costIsLowerBound: false };
      expect(result).toMatchObject({
        content: [
          { text: 'Eight.' },
          { text: expect.stringMatching(`^Solve ${id}: completed, \\$0\\.`) as string },
        ],
        structuredContent: { id, ...said },
      });
      expect((await read(client, id)).structuredContent).toEqual(result.structuredContent);
      const noted: string[] = [];
      for await (const { target } of readAudit(stage.store, { since, until: today() })) noted.push(target);
      expect(noted).toEqual([id]);
    });
  },
);

test('keys, their models, budgets and rates hold as at the other doors, and nothing is asked', async () => {
  await stage.whileWorking(async () => {
    await untilServed();
    await expect(connect(gateway, { key: 'sk-tc-none' })).rejects.toThrow(/401/);
    const other = await connect(gateway, { key: await gateway.key({ models: ['worker/a'] }) });
    expect(await solve(other)).toMatchObject(refused(/this key has no model "conductor"/));
    const poor = await connect(gateway, { key: await gateway.key({ usdPerDay: 0.5 }) });
    expect(await solve(poor)).toMatchObject(refused(/may spend \$0\.50.* a day/));
    const client = await connect(gateway);
    expect(await solve(client, { limits: { calls: 11 } })).toMatchObject(refused(/calls/));
    expect(await solve(client, { limits: { wallClock: 'soon' } })).toMatchObject(refused(/wallClock/));
    expect(await solve(client, { limits: { hours: 1 } })).toMatchObject(refused(/hours/));
    expect(await solve(client, { limits: { costUsd: -1 } })).toMatchObject(
      refused(/expected an amount of USD from 0 to 1000000, or null/),
    );
    // Many calls in one request would pass the rate as one.
    const call = {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'solve', arguments: { question } },
    };
    const accept = { accept: 'application/json, text/event-stream' };
    expect(await gateway.ask('POST', '/mcp', [call, call], { headers: accept })).toMatchObject({
      status: 400,
    });
    const key = await gateway.key({ requestsPerMinute: 1 });
    const ping = { jsonrpc: '2.0', id: 1, method: 'ping' };
    const statuses = [1, 2].map(async () => {
      const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...accept };
      return (await fetch(`${gateway.url}/mcp`, { method: 'POST', headers, body: JSON.stringify(ping) }))
        .status;
    });
    expect((await Promise.all(statuses)).sort()).toEqual([200, 429]);
  });
  expect(stage.providers.log).toEqual([]);
});

test('a solve that fails says why, and only its own key reads it', async () => {
  await stage.whileWorking(async () => {
    await untilServed();
    const client = await connect(gateway);
    const failed = await solve(client, { limits: { costUsd: 0 } });
    const { id } = failed.structuredContent as { readonly id: string };
    expect(failed).toMatchObject({ isError: true, structuredContent: { answer: null } });
    expect(failed.content[0]).toMatchObject({
      text: expect.stringContaining(`solve ${id} gave no answer: `) as string,
    });
    expect(await read(client, id)).toMatchObject({ structuredContent: { id, answer: null } });
    const other = await connect(gateway, { key: await gateway.key() });
    expect(await read(other, id)).toMatchObject(refused(/there is no solve "gw-.*" for this key/));
  });
});

test('a cancelled call leaves its solve, which goes on and is read later', async () => {
  stage.plan([step('a', 'Count the legs.')]);
  await stage.whileWorking(async () => {
    await untilServed();
    const letGo = stage.providers.hold('a');
    const client = await connect(gateway);
    const gone = new AbortController();
    let id = '';
    const call = solve(client, { signal: gone.signal, tell: (line) => (id ||= line.replace('Solve ', '')) });
    await stage.providers.waitForRequest(({ model }) => model === 'a');
    await until(
      () => id,
      (told) => told !== '',
    );
    gone.abort();
    await expect(call).rejects.toThrow();
    expect(await read(client, id)).toMatchObject({ structuredContent: { status: 'running', answer: null } });
    letGo();
    await endOf(stage, id);
    expect(await read(client, id)).toMatchObject({
      structuredContent: { status: 'completed', answer: 'Eight.' },
    });
  });
});

test('a gateway that stops says that the solve goes on, which another one reads', async () => {
  stage.plan([step('a', 'Count the legs.')]);
  await stage.whileWorking(async () => {
    await untilServed();
    const letGo = stage.providers.hold('a');
    const stopping = await openGateway(stage);
    let id = '';
    const call = solve(await connect(stopping, { key: gateway.secret }), {
      tell: (line) => (id ||= line.replace('Solve ', '')),
    });
    await stage.providers.waitForRequest(({ model }) => model === 'a');
    const stopped = stopping.close();
    expect(await call).toMatchObject(
      refused(/^this gateway is stopping; solve gw-\S+ goes on: get_solve reads it$/),
    );
    await stopped;
    letGo();
    await endOf(stage, id);
    expect(await read(await connect(gateway), id)).toMatchObject({ structuredContent: { answer: 'Eight.' } });
  });
});

import { createServer } from 'node:http';
import { getRequestListener } from '@hono/node-server';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { type ToolClient, ToolConnections } from '../../src/activities/tools/connections';
import { offeredName } from '../../src/activities/tools/offered-name';
import { toolResultSchema, textOfResult } from '../../src/activities/tools/result-text';
import { resultText } from '../../src/protocol/tool-result';
import { parseConfig } from '../../src/config/load';
import { listen, type Listening } from '../../src/network/listen';

// A real server over HTTP, of the official package.

const model = { provider: 'openai', model: 'sim-1', apiKeyEnv: 'KEY' } as const;
let server: Listening;
let elsewhere: Listening;
let connections: ToolConnections;
const headers: (string | undefined)[] = [];

beforeAll(async () => {
  const handler = createMcpHandler(() => {
    const mcp = new McpServer({ name: 'over-http', version: '1.0.0' });
    mcp.registerTool(
      'look',
      { description: 'Looks.', inputSchema: z.object({ at: z.string() }) },
      ({ at }) => ({
        content: [{ type: 'text', text: `seen: ${at}` }],
      }),
    );
    mcp.registerTool('flood', { description: 'Floods.', inputSchema: z.object({}) }, () => ({
      content: [{ type: 'text', text: 'x'.repeat(20 * 1024 * 1024) }],
    }));
    return mcp;
  });
  const answer = getRequestListener((request) => handler.fetch(request));
  server = await listen(
    createServer((request, response) => {
      headers.push(request.headers.authorization);
      void answer(request, response);
    }),
    0,
    '127.0.0.1',
  );
  elsewhere = await listen(
    createServer((_, response) => response.writeHead(307, { location: `${server.url}/mcp` }).end()),
    0,
    '127.0.0.1',
  );
  const config = parseConfig({
    conductor: model,
    workers: [{ id: 'ada', ...model, tools: ['remote'] }],
    tools: {
      remote: {
        mcp: { url: `${server.url}/mcp`, headersEnv: { Authorization: 'REMOTE_TOKEN' } },
        allow: ['look', 'flood'],
      },
      moved: { mcp: { url: `${elsewhere.url}/mcp` }, allow: ['look'] },
      unset: { mcp: { url: `${server.url}/mcp`, headersEnv: { Authorization: 'NOT_SET' } }, allow: ['look'] },
    },
  });
  connections = new ToolConnections(config, { REMOTE_TOKEN: 'Bearer tool-key' });
});
const listSchema = z.looseObject({ tools: z.array(z.looseObject({ name: z.string() })) });
const list = (client: ToolClient) => client.request({ method: 'tools/list' }, listSchema);

afterAll(async () => {
  await connections.closeIdle();
  await Promise.all([server.close(), elsewhere.close()]);
});

test('a server over HTTP is listed and called with its own header, over one connection', async () => {
  const listed = await connections.use('remote', list);
  expect(listed.tools.map(({ name }) => name)).toEqual(['look', 'flood']);
  const result = await connections.use('remote', (client) =>
    client.request(
      { method: 'tools/call', params: { name: 'look', arguments: { at: 'the source' } } },
      toolResultSchema,
    ),
  );
  expect(textOfResult(result)).toEqual({ text: 'seen: the source', isError: false });
  expect(new Set(headers)).toEqual(new Set(['Bearer tool-key']));
});

test('20 MB break off, redirects are not followed, and a variable that is not set is named', async () => {
  const flood = connections.use('remote', (client) =>
    client.request({ method: 'tools/call', params: { name: 'flood', arguments: {} } }, toolResultSchema, {
      timeout: 20_000,
    }),
  );
  await expect(flood).rejects.toThrow();
  const use = (entry: string) => connections.use(entry, list);
  await expect(use('moved')).rejects.toThrow(/redirects are not followed/);
  await expect(use('unset')).rejects.toThrow(/NOT_SET is not set, and the tools of unset need it/);
  await expect(connections.use('gone', () => Promise.resolve())).rejects.toThrow(/has no server gone/);
});

test('names fit every vendor, and two tools never share one', () => {
  expect(offeredName('shelf', 'look_up')).toBe('shelf__look_up');
  const names = ['x'.repeat(300), `${'x'.repeat(299)}y`, 'a.b', 'a/b', 'a_b'].map((tool) =>
    offeredName('shelf', tool),
  );
  expect(names.every((name) => /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/.test(name))).toBe(true);
  expect(new Set(names).size).toBe(names.length);
});

test('a result is cut between two characters, and what is no text is named', () => {
  const cut = resultText('é'.repeat(5000), 1025);
  expect(Buffer.byteLength(cut)).toBeLessThanOrEqual(1025);
  expect(cut).toMatch(/^é+\n\[cut: the result has 10000 bytes, and at most 1025 are shown\]$/);
  expect(resultText('😀'.repeat(400), 1025)).toMatch(/^(?:😀)+\n\[cut: /u);
  expect(resultText('half \uD83D', 1025)).toBe('half \uFFFD');
  expect([undefined, null, '', { n: 1 }].map((each) => resultText(each, 1025))).toEqual([
    '(the result is empty)',
    'null',
    '(the result is empty)',
    '{"n":1}',
  ]);
  const result = {
    content: [
      { type: 'resource', resource: { uri: 'file:///a', text: 'A' } },
      { type: 'resource_link', uri: 'https://b' },
      { type: 'audio', mimeType: 'audio/wav', data: 'AAAA' },
      'nonsense',
    ],
    structuredContent: { n: 1 },
    isError: true,
  };
  expect(textOfResult(toolResultSchema.parse(result))).toEqual({
    text: 'file:///a:\nA\n(a link to https://b, which was not followed)\n(audio/wav of 3 bytes, which cannot be shown)\n(unreadable, which cannot be shown)\n{"n":1}',
    isError: true,
  });
});

// A real server of tools, `server.cjs stdio` or `server.cjs PORT`, which notes what it does in the file TOOLS_LOG before
// anybody is told: `started`, and `begun` and `ended` for each call.
const { appendFileSync } = require('node:fs');
const { createServer } = require('node:http');
const { setTimeout: delay } = require('node:timers/promises');
const { getRequestListener } = require('@hono/node-server');
const { createMcpHandler, McpServer } = require('@modelcontextprotocol/server');
const { StdioServerTransport } = require('@modelcontextprotocol/server/stdio');
const { z } = require('zod');

/** Time that each call takes, so that a kill finds it under way. */
const WORK_MS = 60;

const [, , where] = process.argv;
const note = (what, key) =>
  appendFileSync(process.env.TOOLS_LOG, `${JSON.stringify({ what, key, pid: process.pid })}\n`);

function makeServer() {
  const server = new McpServer({ name: 'counted', version: '1.0.0' });
  for (const name of ['pay', 'look']) {
    const inputSchema = z.object({ key: z.string() });
    server.registerTool(name, { description: `${name} once`, inputSchema }, async ({ key }) => {
      note('begun', key);
      await delay(WORK_MS);
      note('ended', key);
      return { content: [{ type: 'text', text: `${name} ${key} is done.` }] };
    });
  }
  return server;
}

if (where === 'stdio') {
  note('started');
  makeServer().connect(new StdioServerTransport());
} else {
  const handler = createMcpHandler(makeServer);
  const server = createServer(getRequestListener((request) => handler.fetch(request)));
  server.listen(Number(where), '127.0.0.1', () => console.log(server.address().port));
}

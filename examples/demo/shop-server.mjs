// A server of tools over stdio, as the demo's worker process starts it: a shop for spare parts. It notes each order in a
// file before it answers, and takes an hour to answer the first, unless its worker ends before.
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { McpServer } from '@modelcontextprotocol/server';
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import { z } from 'zod';

const [, , book] = process.argv;
const server = new McpServer({ name: 'spare-parts', version: '1.0.0' });

const say = (text) => ({ content: [{ type: 'text', text }] });
const orders = () => (existsSync(book) ? readFileSync(book, 'utf8').trim().split('\n') : []);

server.registerTool(
  'find_part',
  {
    description: 'Finds a spare part of a pump',
    inputSchema: z.object({ pump: z.string(), part: z.string() }),
  },
  ({ pump, part }) => say(`${part} of ${pump}: article 6204-2RS, 11.40 EUR, 0 in stock, delivery in 2 days`),
);

server.registerTool(
  'order',
  { description: 'Orders an article', inputSchema: z.object({ article: z.string(), pieces: z.number() }) },
  async ({ article, pieces }) => {
    const isFirst = orders().length === 0;
    appendFileSync(book, `${pieces} × ${article}\n`);
    if (isFirst) await pause(3_600_000, undefined, { ref: false });
    return say(`Ordered: ${pieces} × ${article}.`);
  },
);

server.registerTool(
  'list_orders',
  { description: 'Lists the orders of today', inputSchema: z.object({}) },
  () => say(orders().join('\n') || 'none'),
);

await server.connect(new StdioServerTransport());

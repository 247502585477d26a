/** Serves one tool over stdio. */
import { McpServer } from '@modelcontextprotocol/server';
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import { z } from 'zod';

const server = new McpServer({ name: 'shelf', version: '1.0.0' });
const inputSchema = z.object({ word: z.string() });
server.registerTool('lookUp', { description: 'Looks up.', inputSchema }, ({ word }) => ({
  content: [{ type: 'text', text: `${word}: ${'x'.repeat(200)}` }],
}));
await server.connect(new StdioServerTransport());

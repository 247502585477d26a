// A real server of tools over stdio. It notes each call in the file that TOOLS_LOG names, before it answers.
const { appendFileSync, existsSync } = require('node:fs');
const { McpServer } = require('@modelcontextprotocol/server');
const { StdioServerTransport } = require('@modelcontextprotocol/server/stdio');
const { z } = require('zod');

const note = (line) => {
  if (process.env.TOOLS_LOG) appendFileSync(process.env.TOOLS_LOG, `${line}\n`);
};
process.on('exit', () => {
  if (process.env.TOOLS_LOG) appendFileSync(`${process.env.TOOLS_LOG}.ended`, 'ended\n');
});
const text = (said) => ({ content: [{ type: 'text', text: said }] });

const server = new McpServer({ name: 'tools-of-a-test', version: '1.0.0' });
const tool = (name, inputSchema, answer) =>
  server.registerTool(
    name,
    { description: `${name} of ${process.argv[2] ?? 'a test'}`, inputSchema },
    async (args, extra) => {
      note(`${name} ${JSON.stringify(args)}`);
      return answer(args, extra);
    },
  );

tool('look_up', z.object({ word: z.string() }), ({ word }) => text(`${word} rises at Donaueschingen.`));
tool('order', z.object({ item: z.string() }), ({ item }) => text(`Ordered: ${item}.`));
tool('secret', z.object({}), () =>
  text(`The secret begins with ${(process.env.TOOLS_SECRET ?? '').slice(0, 2)}.`),
);
tool('huge', z.object({}), () => text('é'.repeat(3_000_000)));
tool('broken', z.object({}), () => {
  throw new Error('the shelf is empty');
});
tool('picture', z.object({}), () => ({
  content: [{ type: 'image', data: Buffer.from('no picture').toString('base64'), mimeType: 'image/png' }],
}));
tool('never', z.object({}), () => new Promise(() => undefined));
// Answers once a file says so.
const gated = ({ item }) =>
  new Promise((resolve) => {
    const look = () =>
      existsSync(`${process.env.TOOLS_LOG}.open`) ? resolve(text(`Done: ${item}.`)) : setTimeout(look, 50);
    look();
  });
tool('pay', z.object({ item: z.string() }), gated);
tool('read_slowly', z.object({ item: z.string() }), gated);
tool('die', z.object({}), () => process.exit(1));

server.connect(new StdioServerTransport());

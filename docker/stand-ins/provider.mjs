// Simulated models behind OpenAI's chat API: node provider.mjs PORT LOG
// `boss` plans, `reckoner` adds two numbers, `guesser` never knows. If a question says "slowly (TAG)", workers take
// ten seconds. Each request is logged on arrival as one line: its model and the question's tag.

import { appendFileSync } from 'node:fs';
import { createServer } from 'node:http';

const [port, log] = process.argv.slice(2);

createServer(async (request, response) => {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  const { model, messages } = JSON.parse(Buffer.concat(chunks).toString());
  const text = messages.map(({ content }) => JSON.stringify(content)).join('\n');
  const [, one = '0', other = '0'] = /\b(\d{1,9}) plus (\d{1,9})\b/.exec(text) ?? [];
  const [, tag = ''] = /slowly \(([\w-]{1,40})\)/i.exec(text) ?? [];
  appendFileSync(log, `${model} ${tag}\n`);
  if (tag !== '' && model !== 'boss') await new Promise((resolve) => setTimeout(resolve, 10_000));
  const content = { boss: planFor(tag, Number(one)), reckoner: `${Number(one) + Number(other)}` }[model];
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(
    JSON.stringify({
      id: 'chat-1',
      object: 'chat.completion',
      created: 0,
      model,
      choices: [
        {
          index: 0,
          finish_reason: 'stop',
          message: { role: 'assistant', content: content ?? 'I do not know.' },
        },
      ],
      usage: { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 },
    }),
  );
}).listen(Number(port), '0.0.0.0');

/** Plans two steps for a slow question, the last by `reckoner`; else one step, by either worker. */
function planFor(tag, number) {
  if (tag !== '') return 'model_id = [1, 0]\nsubtasks = ["Guess.", "Reckon."]\naccess_list = [[], [0]]';
  return `model_id = [${number % 2}]\nsubtasks = ["Solve it."]\naccess_list = [[]]`;
}

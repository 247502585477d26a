import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { ONE_STEP, planText } from './plans.mjs';
import { configFor, openClient, startWorker } from './setting.mjs';

const RUNS = 30;
const [PIECES, PIECE_MS] = [20, 50];

/** Returns, per run, the milliseconds from the first byte of its step's answer until a reader had its text. */
export async function firstTexts(server, store) {
  let sentAt = 0;
  const provider = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    const isPlan = JSON.parse(body).model === 'conductor';
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const send = (delta, finish_reason = null) => {
      response.write(
        `data: ${JSON.stringify({ id: 'c', choices: [{ index: 0, delta, finish_reason }] })}\n\n`,
      );
    };
    if (isPlan) send({ content: planText(ONE_STEP) });
    else {
      // Gives the reader time to learn of the step.
      await pause(500);
      sentAt = Date.now();
      for (let piece = 0; piece < PIECES; piece += 1) {
        send({ content: 'Fifty characters of an answer that takes its time. ' });
        await pause(PIECE_MS);
      }
    }
    send({}, 'stop');
    const usage = { prompt_tokens: 10, completion_tokens: 10, total_tokens: 20 };
    response.end(`data: ${JSON.stringify({ id: 'c', choices: [], usage })}\n\ndata: [DONE]\n\n`);
  });
  await once(provider.listen(0, '127.0.0.1'), 'listening');
  const config = configFor(`http://127.0.0.1:${provider.address().port}`, store, `first-text-${Date.now()}`);
  const worker = await startWorker(server, config, 10);
  const reader = spawn(process.execPath, [join(import.meta.dirname, 'programs/reader.mjs')], {
    env: { ...process.env, TEMPORAL_ADDRESS: server.address, BENCH_CONFIG: JSON.stringify(config) },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const lines = createInterface({ input: reader.stdout })[Symbol.asyncIterator]();
  const found = [];
  try {
    for (let run = 0; run < RUNS; run += 1) {
      const { id } = await openClient(server, config).start({ question: 'How long?', live: true });
      reader.stdin.write(`${id}\n`);
      found.push(Number((await lines.next()).value) - sentAt);
      await server.client.workflow.getHandle(id).result();
    }
  } finally {
    reader.kill();
    worker.stop();
    provider.close();
  }
  // Drops the first stream, which also loads modules.
  return found.slice(1);
}

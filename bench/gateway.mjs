/**
 * `npm run bench -- gateway [VENV]`: 500 concurrent streams, and the processor time per request compared with
 * LiteLLM's proxy, which is installed from PyPI unless VENV is a virtual environment that has it. Linux only.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { startSimulatedProviders } from '../lib/testing/index.js';
import { startLiteLlm } from './lite-llm.mjs';
import { many, megabytes, milliseconds, seconds } from './numbers.mjs';
import { ONE_STEP } from './plans.mjs';
import { note, printTable, times } from './rows.mjs';
import { configFor, databaseIn, openServer, spawnProviders, startGateway, startWorker } from './setting.mjs';

const [venv] = process.argv.slice(2);
const [STREAMS, STREAM_MS] = [500, 30_000];
const [REQUESTS, WIDTH, ROUNDS] = [100, 10, 5];
const AIM = 0.5;
const QUESTION = 'How many legs has a spider?';
const asMessages = (content) => [{ role: 'user', content }];

const server = await openServer();
try {
  await printTable(
    [
      `${WIDTH} at once, each of one call that takes no time`,
      'processor time per request',
      'to LiteLLM',
      'aim',
      '',
    ],
    [measureRequests],
  );
  await printTable(['measured', 'value', '', '', ''], [measureStreams]);
} finally {
  await server.close();
}

async function measureRequests() {
  const providers = await spawnProviders({ delayMs: 0, answerBytes: 1000, plan: ONE_STEP });
  const config = configFor(providers.url, databaseIn(server.folder), 'gateway');
  const worker = await startWorker(server, config, 100);
  const gateway = await startGateway(server, config);
  const lite = await startLiteLlm(providers.url, 'a', venv);
  try {
    const programs = {
      conductor: () => ask(gateway, { model: 'worker/a' }),
      lite: () => ask(lite, { model: 'a' }),
    };
    for (const program of Object.values(programs)) await many(REQUESTS, WIDTH, program);
    const spent = { gateway: 0, worker: 0, lite: 0 };
    const look = async () => {
      const [own, work] = [await gateway.look(), await worker.look()];
      return { gateway: own.cpuMs, worker: work.cpuMs, lite: await lite.processorTime() };
    };
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const [program, parts] of [
        [programs.conductor, ['gateway', 'worker']],
        [programs.lite, ['lite']],
      ]) {
        const before = await look();
        await many(REQUESTS, WIDTH, program);
        const after = await look();
        for (const part of parts) spent[part] += (after[part] - before[part]) / REQUESTS / ROUNDS;
      }
    }
    const multiple = spent.gateway / spent.lite;
    const verdict = multiple <= AIM ? 'met' : 'missed';
    return [
      [`LiteLLM's proxy ${lite.version}`, milliseconds(spent.lite), times(1), '', ''],
      ['the gateway itself', milliseconds(spent.gateway), times(multiple), `≤ ${times(AIM)}`, verdict],
      [
        'the whole durable request, gateway and worker',
        milliseconds(spent.gateway + spent.worker),
        times((spent.gateway + spent.worker) / spent.lite),
        '',
        '',
      ],
    ];
  } finally {
    await lite.close();
    gateway.stop();
    worker.stop();
    await providers.close();
  }
}

function post({ url, secret }, body) {
  return fetch(`${url}/v1/${body.input === undefined ? 'chat/completions' : 'responses'}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
}

async function ask(of, body) {
  const response = await post(of, { ...body, messages: asMessages(QUESTION) });
  const { choices } = await response.json();
  if (!choices?.[0]?.message.content) throw new Error(`${of.url} gave no answer: ${response.status}`);
}

/** Streams chat completions and responses; half of each stay silent until the answer, half arrive in pieces. */
async function measureStreams() {
  const answer = 'x'.repeat(2000);
  const written = { answer, schedule: [{ share: 1, answer: { fault: 'drip', ms: STREAM_MS } }] };
  const providers = await startSimulatedProviders({
    models: { a: { delayMs: STREAM_MS, answer }, b: written },
  });
  const config = configFor(providers.url, databaseIn(server.folder), 'gateway-streams');
  const worker = await startWorker(server, config, 2 * STREAMS);
  const gateway = await startGateway(server, config);
  try {
    const idle = await gateway.look();
    const silences = [];
    let open = 0;
    const streams = Array.from({ length: STREAMS }, async (_, index) => {
      // Starts the streams over 10 s, as clients would.
      await pause(index * 20);
      const model = index % 2 === 0 ? 'worker/a' : 'worker/b';
      const asked = index % 4 < 2 ? { messages: asMessages(QUESTION) } : { input: QUESTION };
      silences.push(await longestSilence(gateway, { model, stream: true, ...asked }, (by) => (open += by)));
    });
    const isOver = Promise.all(streams).then(() => true);
    let atOnce = 0;
    while (!(await Promise.race([isOver, pause(500, false)]))) {
      atOnce = Math.max(atOnce, open);
    }
    const after = await gateway.look();
    await pause(5000);
    const left = await gateway.look();
    return [
      note(`streams in total, most open at once`, `${silences.length}, ${atOnce}`),
      note('memory of the gateway: idle', megabytes(idle.rss)),
      note('at most', megabytes(after.most)),
      note('five seconds after the last stream', megabytes(left.rss)),
      note('longest event-loop stall during this time', milliseconds(after.stopMs)),
      note('its processor time', seconds(after.cpuMs - idle.cpuMs)),
      note('longest silence of a stream, at the client (aim ≤ 15 s)', seconds(Math.max(...silences))),
    ];
  } finally {
    gateway.stop();
    worker.stop();
    await providers.close();
  }
}

/** Reads a stream to its end. Returns its longest time in milliseconds without a byte, from the request on. */
async function longestSilence(gateway, body, count) {
  let [longest, last] = [0, performance.now()];
  const hear = () => {
    const now = performance.now();
    [longest, last] = [Math.max(longest, now - last), now];
  };
  const response = await post(gateway, body);
  hear();
  if (response.status !== 200) throw new Error(`a stream was refused: ${await response.text()}`);
  count(1);
  let end = '';
  for await (const chunk of response.body) {
    hear();
    end = (end + Buffer.from(chunk).toString()).slice(-20_000);
  }
  count(-1);
  if (!end.includes('[DONE]') && !end.includes('response.completed')) {
    throw new Error(`a stream ended before its answer: ${end.slice(-300)}`);
  }
  return longest;
}

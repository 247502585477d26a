/**
 * `npm run bench -- tools`: processor time of a step in which a model calls tools in five turns, beside bare Temporal
 * that makes the same model calls and calls the same tool as activities of a minimal workflow. Both run in this process,
 * in turn; the providers have a process of their own.
 */
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import OpenAI from 'openai';
import { z } from 'zod';
import { openBare } from './bare.mjs';
import { each, many, milliseconds, median } from './numbers.mjs';
import { ONE_STEP } from './plans.mjs';
import { printTable, times } from './rows.mjs';
import { configFor, openServer, openSolver, spawnProviders } from './setting.mjs';

const { defineTool } = createRequire(import.meta.url)('../lib/index.js');

const TURNS = 5;
const ROUNDS = 5;
/** Runs of each program in a round. */
const RUNS = 10;
/** Highest multiple of bare Temporal's processor time. */
const AIM = 1.6;
const PROGRAM = [process.execPath, fileURLToPath(new URL('programs/tools.mjs', import.meta.url))];

const server = await openServer();
try {
  await printTable(
    [`${TURNS} turns with a tool, processor ms without server`, 'bare', 'solve', 'solve to bare', 'aim', ''],
    [() => measure('function', 'lookup', withFunction), () => measure('server', 'shelf__lookUp', withServer)],
  );
} finally {
  await server.close();
}

/** Measures both programs with one kind of tool, under the name that models are offered. */
async function measure(kind, name, open) {
  // A model that asked the same three times would have to answer.
  const turns = Array.from({ length: TURNS }, (_, index) => ({
    text: '',
    calls: [{ name, input: { word: `word ${index}` } }],
  }));
  const a = { script: Array.from({ length: 2 * (ROUNDS + 1) * RUNS }, () => [...turns, 'Done.']).flat() };
  const providers = await spawnProviders({ delayMs: 0, answerBytes: 1000, plan: ONE_STEP, models: { a } });
  const { lookUp, settings, close } = await open();
  const config = configFor(providers.url, '', `tools-${kind}`);
  const workers = config.workers.map((worker) => ({ ...worker, tools: settings.listed }));
  const { changes, options } = settings;
  const solver = await openSolver(server, providers.url, `tools-${kind}`, { workers, ...changes }, options);
  const activities = { converse: converseAt(providers.url, name), lookUp };
  const bare = await openBare(server, `tools-${kind}-bare`, activities, 'toolStep');
  const programs = {
    bare: bare.run,
    solve: async () => {
      const { id, status, degraded, rounds } = await solver.conductor.solve({ question: 'How much?' });
      const { turns: taken = [] } = rounds[0]?.steps[0] ?? {};
      const isWhole = status === 'completed' && !degraded && taken.length === TURNS;
      if (!isWhole) throw new Error(`${id} ended as ${status} after ${taken.length} turns with tools`);
    },
  };
  try {
    const spent = each(programs, () => []);
    for (let round = 0; round <= ROUNDS; round += 1) {
      for (const [program, run] of Object.entries(programs)) {
        const before = process.cpuUsage();
        await many(RUNS, 1, run);
        const { user, system } = process.cpuUsage(before);
        // The first round opens connections and loads what is loaded once.
        if (round > 0) spent[program].push((user + system) / 1000 / RUNS);
      }
    }
    const { bare: least, solve } = each(spent, median);
    const ratio = solve / least;
    const verdict = ratio <= AIM ? 'met' : 'missed';
    return [[kind, milliseconds(least), milliseconds(solve), times(ratio), `≤ ${times(AIM)}`, verdict]];
  } finally {
    await bare.close();
    await solver.close();
    await providers.close();
    await close();
  }
}

function withFunction() {
  const lookUp = ({ word }) => ({ word, found: 'x'.repeat(200) });
  const tool = defineTool({ description: 'Looks up.', input: z.object({ word: z.string() }), run: lookUp });
  const settings = { listed: ['lookup'], changes: {}, options: { tools: { lookup: tool } } };
  return { lookUp, settings, close: () => undefined };
}

async function withServer() {
  const client = new Client({ name: 'bench', version: '1.0.0' });
  const [command, ...args] = PROGRAM;
  await client.connect(new StdioClientTransport({ command, args }));
  const tools = { shelf: { mcp: { command: PROGRAM }, allow: ['lookUp'] } };
  return {
    lookUp: (input) => client.callTool({ name: 'lookUp', arguments: input }),
    settings: { listed: ['shelf'], changes: { tools }, options: {} },
    close: () => client.close(),
  };
}

/** Makes one turn of a chat with a tool. */
function converseAt(url, name) {
  const openai = new OpenAI({ baseURL: `${url}/v1`, apiKey: 'none', maxRetries: 0 });
  const parameters = { type: 'object', properties: { word: { type: 'string' } }, required: ['word'] };
  const tools = [{ type: 'function', function: { name, description: 'Looks up.', parameters } }];
  return async (model, messages) => {
    const reply = await openai.chat.completions.create({ model, messages, tools });
    return reply.choices[0].message;
  };
}

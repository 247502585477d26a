// A demo: a worker looks something up, asks a person before it orders, and is killed while the order is under way.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { renderPlan } from '../../lib/index.js';
import { compareBills, say, title } from './stage.mjs';

const QUESTION = 'Pump P-7 needs a new bearing. See to it.';
const SHOP = fileURLToPath(new URL('shop-server.mjs', import.meta.url));
const BOOK = 'orders.txt';

const WORKERS = ['clerk', 'writer'];
/** USD per million tokens, for the simulated providers' bills and for the ledger. */
const PRICES = {
  planner: { input: 2, output: 10 },
  clerk: { input: 2, output: 10 },
  writer: { input: 0.2, output: 0.8 },
};

const PLAN = renderPlan(
  {
    steps: [
      {
        worker: 'clerk',
        subtask: 'Find the bearing of pump P-7. If there is none in stock, order two.',
        sees: [],
      },
      { worker: 'writer', subtask: 'Tell the workshop in one sentence what was done.', sees: [0] },
    ],
  },
  WORKERS,
);

const call = (name, input) => ({ text: '', calls: [{ name: `shop__${name}`, input }] });

const MODELS = {
  planner: { price: PRICES.planner, delayMs: 800, answer: PLAN },
  clerk: {
    price: PRICES.clerk,
    delayMs: 800,
    script: [
      call('find_part', { pump: 'P-7', part: 'bearing' }),
      call('order', { article: '6204-2RS', pieces: 2 }),
      // It is told that nobody knows what came of the order.
      call('list_orders', {}),
    ],
    answer: 'Two bearings 6204-2RS are on order, as the list of orders shows. Delivery in 2 days.',
  },
  writer: {
    price: PRICES.writer,
    delayMs: 800,
    answer: 'Two bearings 6204-2RS for pump P-7 were ordered and arrive in 2 days.',
  },
};

/** Returns the demo's `conductor.yaml`. */
function configuration(url) {
  const model = (name) =>
    `provider: openai, baseUrl: ${url}/v1, model: ${name}, price: ${JSON.stringify(PRICES[name])}`;
  const command = JSON.stringify([process.execPath, SHOP, BOOK]);
  return [
    `conductor: { ${model('planner')} }`,
    'tools:',
    `  shop: { mcp: { command: ${command} }, allow: [find_part, order, list_orders],`,
    '    repeatable: [find_part, list_orders], approve: [order], timeout: 2h }',
    'workers:',
    `  - { id: clerk, ${model('clerk')}, tools: [shop] }`,
    `  - { id: writer, ${model('writer')} }`,
    'recursion: never',
    '',
  ].join('\n');
}

async function play(stage) {
  const { folder, start, wait, kill } = stage;
  title('A clerk with three tools. Of orders, a person decides.');
  const solving = start(['solve', QUESTION, '--trust']);
  const asked = stage.providers.waitForRequest(({ model }) => model === 'clerk');
  const early = await Promise.race([solving.ended, asked.then(() => null)]);
  if (early !== null) return early;
  const run = await waitForApproval(stage);

  title('Approving it from another process:');
  if ((await start(['approve', run]).ended) !== 0) return 1;
  const orders = () => (existsSync(join(folder, BOOK)) ? readFileSync(join(folder, BOOK), 'utf8') : '');
  while (orders() === '') await wait(200);
  await kill(solving);

  title(
    `Killed process ${solving.child.pid} (SIGKILL) while the order was under way.`,
    'Nobody knows what came of it, so it is not sent again.',
  );
  const code = await start(['watch', run]).ended;
  if (code !== 0) return code;

  title('What was called:');
  await start(['trace', run]).ended;
  title(`The shop's own book: ${orders().trim()}`);
  const isOnce = orders().trim().split('\n').length === 1;
  say(isOnce ? 'The order was sent once.' : 'This is a bug: please report it.');
  const isRight = await compareBills(stage);
  return isRight && isOnce ? 0 : 1;
}

/** Returns the id of the run once it waits for a person. */
async function waitForApproval({ readJson, wait }) {
  for (;;) {
    const { runs } = await readJson('list');
    const waiting = runs.find(({ waitsFor }) => waitsFor === 'approval');
    if (waiting !== undefined) return waiting.id;
    await wait(300);
  }
}

export const TOOLS = {
  intro: [
    'A demo of tools. The models are simulated and play a script:',
    'no key, no network, no real money. Temporal, the processes,',
    'the store, the server of tools and the kill are real.',
  ],
  models: MODELS,
  configuration,
  play,
};

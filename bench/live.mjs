/**
 * `npm run bench -- live [postgres://…]`: the cost of streaming answers, and the delay until another process can read
 * them. The delay is also measured in PostgreSQL if a database with the store's schema is named.
 */
import { startSimulatedProviders } from '../lib/testing/index.js';
import { openBare } from './bare.mjs';
import { firstTexts } from './first-text.mjs';
import { each, many, median, megabytes, milliseconds } from './numbers.mjs';
import { callsTo, streamsFrom } from './plain.mjs';
import { FOUR_CALLS, ONE_STEP, planText } from './plans.mjs';
import { note, printTable, rate, times } from './rows.mjs';
import {
  configFor,
  databaseIn,
  openClient,
  openServer,
  openSolver,
  spawnProviders,
  startWorker,
} from './setting.mjs';

const [postgres] = process.argv.slice(2);
/** Simulated providers send it in 400 pieces. */
const ANSWER_BYTES = 20_000;
const [SOLVES, ROUNDS] = [20, 5];
const RUNS = 200;

const server = await openServer();
try {
  await printTable(
    ['four calls, 20 KB answers in 400 pieces', 'processor time', 'to bare, streamed'],
    [measureCalls],
  );
  await printTable(['measured', 'value', 'good', 'excellent', ''], [measureFirstTexts, measureCrowd]);
} finally {
  await server.close();
}

/** Measures the processor time of this process, which runs both worker and client. */
async function measureCalls() {
  const providers = await spawnProviders({ delayMs: 0, answerBytes: ANSWER_BYTES, plan: FOUR_CALLS });
  const { url } = providers;
  const { conductor, workers } = configFor(url, '', '');
  const whole = (card) => ({ ...card, stream: false });
  const wholes = { conductor: whole(conductor), workers: workers.map(whole) };
  const opened = {
    streamed: await openSolver(server, url, 'streamed'),
    wholes: await openSolver(server, url, 'wholes', wholes),
    bare: await openBare(server, 'bare-streamed', streamsFrom(url)),
    bareWholes: await openBare(server, 'bare-wholes', callsTo(url)),
  };
  const solve = (of, live) => () => of.conductor.solve({ question: 'How long?', ...(live && { live }) });
  const programs = {
    'solve, live': solve(opened.streamed, true),
    'solve, not live': solve(opened.streamed),
    'solve, whole bodies': solve(opened.wholes),
    'bare Temporal, streamed': opened.bare.run,
    'bare Temporal, whole bodies': opened.bareWholes.run,
  };
  for (const program of Object.values(programs)) await many(4, 4, program);
  const spent = each(programs, () => []);
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const [name, program] of Object.entries(programs)) {
      const before = process.cpuUsage();
      await many(SOLVES, 10, program);
      const { user, system } = process.cpuUsage(before);
      spent[name].push((user + system) / 1000 / SOLVES);
    }
  }
  for (const each of [...Object.values(opened), providers]) await each.close();
  const medians = each(spent, median);
  const bare = medians['bare Temporal, streamed'];
  return Object.entries(medians).map(([name, ms]) => [name, milliseconds(ms), times(ms / bare)]);
}

/** Measures the time from the first byte of a step's answer to its text in a process other than the worker's. */
async function measureFirstTexts() {
  const stores = [
    ['SQLite', databaseIn(server.folder), 400],
    ...(postgres === undefined ? [] : [['PostgreSQL', postgres, 250]]),
  ];
  const rows = [];
  for (const [name, store, aim] of stores) {
    const found = await firstTexts(server, store);
    const what = `first byte at the provider → \`text\` in another process, ${name}, median of ${found.length}`;
    rows.push(rate(what, median(found), { good: aim, excellent: aim, show: milliseconds }));
    rows.push(note('longest', milliseconds(Math.max(...found))));
  }
  return rows;
}

/** Measures a worker while all runs receive their answers at once, over ten seconds. */
async function measureCrowd() {
  const slow = {
    answer: 'x'.repeat(ANSWER_BYTES),
    schedule: [{ share: 1, answer: { fault: 'drip', ms: 10_000 } }],
  };
  const models = { conductor: { answer: planText(ONE_STEP) }, a: slow };
  const providers = await startSimulatedProviders({ models });
  const config = configFor(providers.url, databaseIn(server.folder), 'live-crowd');
  const worker = await startWorker(server, config, 2 * RUNS);
  const conductor = openClient(server, config);
  const release = providers.hold('a');
  const runs = [];
  await many(RUNS, 50, async () => {
    runs.push(await conductor.start({ question: 'How long?', live: true }));
  });
  await providers.waitForLog((log) => log.filter(({ model }) => model === 'a').length === RUNS);
  const before = await worker.look();
  release();
  await Promise.all(runs.map(({ id }) => server.client.workflow.getHandle(id).result()));
  const after = await worker.look();
  worker.stop();
  await providers.close();
  return [
    note(`memory of a worker: ${RUNS} live runs wait for an answer`, megabytes(before.rss)),
    note('at most, while they stream 20 KB each in 10 s', megabytes(after.most)),
    note('longest event-loop stall during this time', milliseconds(after.stopMs)),
  ];
}

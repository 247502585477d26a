/**
 * `npm run bench -- crowd [SOLVES]`: 2,000 concurrent solves in one worker process, each call taking 10 s. Prints the
 * worker's memory and the time until all have completed; a solve that does not complete is an error.
 */
import { join } from 'node:path';
import { startSimulatedProviders } from '../lib/testing/index.js';
import { many, megabytes, seconds, time } from './numbers.mjs';
import { FOUR_CALLS, planText } from './plans.mjs';
import { note, printTable } from './rows.mjs';
import { configFor, databaseIn, openClient, openServer, startWorker } from './setting.mjs';

const SOLVES = Number(process.argv[2] ?? 2000);
const CALL_MS = 10_000;
/** Maximum results awaited at a time; the server allows 1,200 (`frontend.namespaceCount`). */
const POLLS = 1000;

const slow = (answer) => ({ delayMs: CALL_MS, answer });
const providers = await startSimulatedProviders({
  models: { conductor: slow(planText(FOUR_CALLS)) },
  fallback: slow('x'.repeat(1000)),
});
const server = await openServer();
const config = configFor(providers.url, databaseIn(join(server.folder, 'crowd')), 'crowd');
const worker = await startWorker(server, config, 2 * SOLVES);
try {
  await printTable(['measured', 'value', '', '', ''], [measureCrowd]);
} finally {
  worker.stop();
  await providers.close();
  await server.close();
}

/** Holds the first calls until every solve has made its own, so that all solves are running. */
async function measureCrowd() {
  const conductor = openClient(server, config);
  const idle = await worker.look();
  const release = providers.hold('conductor');
  const runs = [];
  const startedMs = await time(async () => {
    await many(SOLVES, 50, async (index) => {
      runs.push(await conductor.start({ question: `What is ${index}?` }));
    });
    await providers.waitForLog((log) => log.length === SOLVES);
  });
  const waiting = await worker.look();
  release();
  const drainedMs = await time(() => many(SOLVES, POLLS, (index) => waitFor(runs[index])));
  const after = await worker.look();
  return [
    note(`from the first start to the first call of all ${SOLVES} solves`, seconds(startedMs)),
    note('memory of the worker: idle', megabytes(idle.rss)),
    note(
      'all waiting for their plan',
      `${megabytes(waiting.rss)}, ${waiting.numCachedWorkflows} in the workflow cache`,
    ),
    note('at most', megabytes(after.most)),
    note('all done', `${megabytes(after.rss)}, ${after.numCachedWorkflows} in the workflow cache`),
    note(
      `from the first plan to the last answer (three waves of ${CALL_MS / 1000} s at least)`,
      seconds(drainedMs),
    ),
  ];
}

async function waitFor({ id, runId }) {
  const { status, degraded } = await server.client.workflow.getHandle(id, runId).result();
  if (status !== 'completed' || degraded) throw new Error(`${id} ended as ${status}, degraded: ${degraded}`);
}

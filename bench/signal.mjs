import { setTimeout as wait } from 'node:timers/promises';
import { startSimulatedProviders } from '../lib/testing/index.js';
import { ONE_STEP, planText, SELF_CALL } from './plans.mjs';
import { note } from './rows.mjs';
import { openSolver } from './setting.mjs';
import { childrenIn, describeDifference, weigh } from './weigh.mjs';

/** Measures what a signal adds to a run without children, and to one that forwards it to a child. */
export async function measureSignal(server) {
  const providers = await startSimulatedProviders();
  const solver = await openSolver(server, providers.url, 'signal', { recursion: 'worker' });
  const run = (plans, isSignalled) => runHeld(server, { providers, solver }, plans, isSignalled);
  const alone = describeDifference(await run([ONE_STEP], true), await run([ONE_STEP], false));
  const plans = [SELF_CALL, ONE_STEP];
  const forwarded = describeDifference(await run(plans, true), await run(plans, false));
  await solver.close();
  await providers.close();
  return [
    note('`setMaxDepth`, no child alive, adds', alone),
    note('`setMaxDepth`, forwarded to a live child, adds', forwarded),
  ];
}

/** Sends the signal, if any, while the only worker is held, so that new events are the signal's own. */
async function runHeld({ client }, { providers, solver: { conductor } }, plans, isSignalled) {
  const depth = plans.length - 1;
  providers.script('conductor', plans.map(planText));
  const before = providers.log.length;
  const release = providers.hold('a');
  const run = await conductor.start({ question: 'Who hears it?', limits: { depth } });
  await providers.waitForRequest(({ model, sequence }) => model === 'a' && sequence > before);
  await waitForTree(client, run.id, isAtRest);
  if (isSignalled) {
    await conductor.setMaxDepth(run.id, depth + 1);
    await waitForTree(client, run.id, (events) => hasHeard(events) && isAtRest(events));
  }
  release();
  await client.workflow.getHandle(run.id, run.runId).result();
  return weigh(client, run.id);
}

/** Polls until `isSo` holds for the histories of a run and of its children. */
async function waitForTree(client, id, isSo) {
  while (!(await isTreeSo(client, id, isSo))) await wait(20);
}

async function isTreeSo(client, id, isSo) {
  const { events = [] } = await client.workflow.getHandle(id).fetchHistory();
  const below = await Promise.all(childrenIn(events).map((childId) => isTreeSo(client, childId, isSo)));
  return isSo(events) && below.every(Boolean);
}

const hasHeard = (events) => events.some((event) => event.workflowExecutionSignaledEventAttributes);

/** Returns whether the held call is all that is left to do. */
function isAtRest(events) {
  const last = events.at(-1);
  return Boolean(last?.workflowTaskCompletedEventAttributes ?? last?.activityTaskScheduledEventAttributes);
}

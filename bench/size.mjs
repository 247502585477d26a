import { startSimulatedProviders } from '../lib/testing/index.js';
import { note, rate } from './numbers.mjs';
import { CHAIN, FOUR_CALLS, openSolver, planText } from './setting.mjs';

const KB = 1000;

/** Events, bytes and billed Actions of histories: exact, whatever the machine. */
export async function measureSize(server) {
  const providers = await startSimulatedProviders();
  const solver = await openSolver(server, providers.url, 'size');
  const run = (plan, outputs, last) => weigh(server, solver, providers, { plan, outputs, last });
  const small = await run(FOUR_CALLS, 1 * KB, 1 * KB);
  const large = await run(FOUR_CALLS, 200 * KB, 1 * KB);
  const whole = await run(FOUR_CALLS, 200 * KB, 200 * KB);
  const chain = await run(CHAIN, 200 * KB, 1 * KB);
  await solver.close();
  await providers.close();
  const size = (good, excellent) => ({ good: good * KB, excellent: excellent * KB, show: kb });
  return [
    rate('4 calls: history events', small.events, { good: 32, excellent: 29 }),
    rate('4 calls: Temporal Actions (calls + 1)', small.actions, { good: 6, excellent: 5 }),
    note('4 calls, 1 KB answers: history', kb(small.bytes)),
    rate('4 calls, 200 KB outputs, short answer: history', large.bytes, size(30, 10)),
    note('4 calls, 200 KB outputs and answer, which comes whole: history', kb(whole.bytes)),
    rate('5-step chain, 200 KB outputs, short answer: history', chain.bytes, size(40, 15)),
  ];
}

async function weigh(server, solver, providers, { plan, outputs, last }) {
  providers.answer('conductor', planText(plan));
  for (const [index, { worker }] of plan.entries()) {
    const bytes = index === plan.length - 1 ? last : outputs;
    providers.answer(worker, worker.repeat(bytes));
  }
  const { id } = await solver.conductor.solve({ question: 'How large?' });
  const handle = server.client.workflow.getHandle(id);
  const { events = [] } = await handle.fetchHistory();
  const { historySize } = await handle.describe();
  return { events: events.length, bytes: historySize, actions: actionsOf(events) };
}

/** One for the start and one for each attempt of an activity (Temporal Cloud's price list); heartbeats not seen here. */
function actionsOf(events) {
  const attempts = events.reduce(
    (sum, event) => sum + (event.activityTaskStartedEventAttributes?.attempt ?? 0),
    0,
  );
  return 1 + attempts;
}

const kb = (bytes) => `${(bytes / KB).toFixed(1)} KB`;

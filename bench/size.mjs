import { startSimulatedProviders } from '../lib/testing/index.js';
import { kilobytes } from './numbers.mjs';
import { CHAIN, FOUR_CALLS, planText } from './plans.mjs';
import { note, rate } from './rows.mjs';
import { openSolver } from './setting.mjs';
import { weigh } from './weigh.mjs';

const KB = 1000;

/** Measures the history and the Actions that simple runs leave in Temporal. */
export async function measureSize(server) {
  const providers = await startSimulatedProviders();
  const solver = await openSolver(server, providers.url, 'size');
  const run = async (plan, outputs, last) => {
    providers.answer('conductor', planText(plan));
    for (const [index, { worker }] of plan.entries()) {
      const bytes = index === plan.length - 1 ? last : outputs;
      providers.answer(worker, worker.repeat(bytes));
    }
    const { id } = await solver.conductor.solve({ question: 'How large?' });
    const [weight] = await weigh(server.client, id);
    return weight;
  };
  const small = await run(FOUR_CALLS, 1 * KB, 1 * KB);
  const large = await run(FOUR_CALLS, 200 * KB, 1 * KB);
  const whole = await run(FOUR_CALLS, 200 * KB, 200 * KB);
  const chain = await run(CHAIN, 200 * KB, 1 * KB);
  await solver.close();
  await providers.close();
  const size = (good, excellent) => ({ good: good * KB, excellent: excellent * KB, show: kilobytes });
  return [
    rate('4 calls: history events', small.events, { good: 32, excellent: 29 }),
    rate('4 calls: Temporal Actions (calls + 1)', small.actions, { good: 6, excellent: 5 }),
    note('4 calls, 1 KB answers: history', kilobytes(small.bytes)),
    rate('4 calls, 200 KB outputs, short answer: history', large.bytes, size(30, 10)),
    note('4 calls, 200 KB outputs and answer, which comes whole: history', kilobytes(whole.bytes)),
    rate('5-step chain, 200 KB outputs, short answer: history', chain.bytes, size(40, 15)),
  ];
}

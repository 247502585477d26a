import { startSimulatedProviders } from '../lib/testing/index.js';
import { ACCEPT, ONE_STEP, planText, SELF_CALL } from './plans.mjs';
import { note } from './rows.mjs';
import { openSolver } from './setting.mjs';
import { describeDifference, weigh } from './weigh.mjs';

/** Measures what one level of recursion adds to a run of one step. */
export async function measureRecursion(server) {
  const review = await weighLevel(server, 'review', [ONE_STEP, ACCEPT]);
  const selfCall = await weighLevel(server, 'worker', [SELF_CALL, ONE_STEP]);
  return [
    note('a review that accepts adds', review),
    note('a step that the Conductor gives to itself, planned in one step, adds', selfCall),
  ];
}

/** Weighs runs at depths 0 and 1. @param plans all that the Conductor writes at depth 1, in order */
async function weighLevel(server, recursion, plans) {
  const providers = await startSimulatedProviders();
  const solver = await openSolver(server, providers.url, `recursion-${recursion}`, { recursion });
  const run = async (depth, written) => {
    providers.script('conductor', written.map(planText));
    const { id } = await solver.conductor.solve({ question: 'How deep?', limits: { depth } });
    return weigh(server.client, id);
  };
  const flat = await run(0, [ONE_STEP]);
  const deep = await run(1, plans);
  await solver.close();
  await providers.close();
  return describeDifference(deep, flat);
}
